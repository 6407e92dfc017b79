// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 && !arm64

package kernel

func int8Peaks() []PeakLoop { return []PeakLoop{peakInt8Twin} }

func fp32Peaks() []PeakLoop { return []PeakLoop{peakFP32Twin} }

func bf16Peaks() []PeakLoop { return nil }

func readLoops() []ReadLoop { return []ReadLoop{readTwin} }
