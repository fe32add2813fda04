// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.stream.IntStream;

public class Main {
  public static void main(String[] arguments) throws Exception {
    int sum = IntStream.range(0, 1000).parallel().sum();
    Process process = new ProcessBuilder("echo", "started").redirectErrorStream(true).start();
    String out = new String(process.getInputStream().readAllBytes());
    System.out.print(sum + " " + out);
    System.exit(process.waitFor() + 6);
  }
}
