// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/process"
)

// maxForeign is the share of the processors' time that others may have in a run that counts.
const maxForeign = 0.05

// Noise says what else went on in the machine during a run. Shares are of the time of all its processors.
type Noise struct {
	Known    bool    // whether the system tells; if not, the run counts as noisy
	Own      float64 // share of this process
	Foreign  float64 // share of everything else, stolen time included
	Steal    float64 // share that the machine's own host took away
	Load     float64 // mean number of runnable threads in the last minute, at the end
	Pressure float64 // share of the run during which some thread waited for a processor; negative: not known (Linux only)
}

// Noisy reports whether the run must not be compared with others.
func (n Noise) Noisy() bool { return !n.Known || n.Foreign > maxForeign }

// String describes the noise in one line.
func (n Noise) String() string {
	if !n.Known {
		return "not known: the system does not tell how busy its processors are"
	}
	s := fmt.Sprintf("other programs had %.1f %% of the processors (stolen: %.1f %%), load %.1f", 100*n.Foreign, 100*n.Steal, n.Load)
	if n.Pressure >= 0 {
		s += fmt.Sprintf(", threads waited for a processor %.0f %% of the time", 100*n.Pressure)
	}
	return s
}

// A usage is processor time used since the machine or the process started, in seconds.
type usage struct {
	known             bool
	own, busy, stolen float64
	all               float64 // idle time included
	pressure          float64 // negative: not known
	at                time.Time
}

// currentUsage asks the system.
func currentUsage() usage {
	u := usage{at: time.Now(), pressure: cpuPressure()}
	all, err := cpu.Times(false)
	if err != nil || len(all) == 0 {
		return u
	}
	self, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		return u
	}
	own, err := self.Times()
	if err != nil {
		return u
	}
	t := all[0]
	u.own = own.User + own.System
	u.stolen = t.Steal
	u.busy = t.User + t.Nice + t.System + t.Irq + t.Softirq + t.Steal
	u.all = u.busy + t.Idle + t.Iowait
	u.known = true
	return u
}

// cpuPressure is how many seconds some thread has waited for a processor, as Linux tells; negative elsewhere.
func cpuPressure() float64 {
	text, err := os.ReadFile("/proc/pressure/cpu")
	if err != nil {
		return -1
	}
	line, _, _ := strings.Cut(string(text), "\n")
	_, total, ok := strings.Cut(line, "total=")
	micros, err := strconv.ParseFloat(total, 64)
	if !ok || err != nil {
		return -1
	}
	return micros / 1e6
}

// currentLoad is the load average of the last minute; 0 where there is none.
func currentLoad() float64 {
	if avg, err := load.Avg(); err == nil {
		return avg.Load1
	}
	return 0
}

// noiseBetween says what went on between two usages.
func noiseBetween(a, b usage, load float64) Noise {
	n := Noise{Load: load, Pressure: -1}
	if a.pressure >= 0 && b.pressure >= a.pressure && b.at.After(a.at) {
		n.Pressure = (b.pressure - a.pressure) / b.at.Sub(a.at).Seconds()
	}
	all := b.all - a.all
	if !a.known || !b.known || all <= 0 {
		return n
	}
	n.Known = true
	n.Own = (b.own - a.own) / all
	n.Steal = (b.stolen - a.stolen) / all
	n.Foreign = max(0, (b.busy-a.busy)/all-n.Own)
	return n
}
