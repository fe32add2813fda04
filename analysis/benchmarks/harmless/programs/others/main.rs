// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

use std::process::{exit, Command};
use std::thread;

fn main() {
    let threads: Vec<_> = (0..8u64)
        .map(|i| thread::spawn(move || (0..1000).map(|n| n * i).sum::<u64>()))
        .collect();
    let sums: Vec<u64> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    let done = Command::new("echo").arg("started").output().unwrap();
    println!("{:?} {:?}", sums, done.stdout);
    exit(6);
}
