// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
)

func main() {
	var group sync.WaitGroup
	sums := make([]int, 8)
	for i := range sums {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			for n := 0; n < 1000; n++ {
				sums[i] += n * i
			}
		}(i)
	}
	group.Wait()
	out, err := exec.Command("echo", "started").Output()
	fmt.Println(sums, string(out), err)
	os.Exit(6)
}
