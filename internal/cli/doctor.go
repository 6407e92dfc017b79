// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/spf13/cobra"

	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/local"
)

// A diagnosis is what doctor finds out.
type diagnosis struct {
	Version     string         `json:"version"`
	OS          string         `json:"os"`
	Arch        string         `json:"arch"`
	CPU         string         `json:"cpu"`
	Cores       int            `json:"cores"`
	Tier        string         `json:"tier"`
	Detected    string         `json:"detected_tier"`
	MemoryBytes uint64         `json:"memory_bytes"`
	FreeBytes   uint64         `json:"free_bytes"`
	Home        string         `json:"home"`
	HomeState   string         `json:"home_state"`
	ConfigFile  string         `json:"config_file,omitempty"`
	Stores      []storeFinding `json:"stores"`
	Port        string         `json:"port"`
	Problems    []string       `json:"problems"`
	Next        string         `json:"next"`
}

// A storeFinding says what lies in a folder of models.
type storeFinding struct {
	Kind   string `json:"kind"`
	Folder string `json:"folder"`
	Found  bool   `json:"found"`
	Models int    `json:"models"`
}

// newDoctor tells what this build and this machine can do.
func newDoctor(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Tell what this build and this machine can do", Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			d := diagnose(env)
			if asJSON {
				return printJSON(env, d)
			}
			return d.print(env)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func diagnose(env *Env) *diagnosis {
	d := &diagnosis{
		Version: Version, OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuName(), Cores: runtime.NumCPU(),
		Tier: kernel.Tier(), Detected: kernel.DetectedTier(), Home: env.home(), Problems: []string{},
	}
	free, err := local.FreeBytes()
	if m, bad := mem.VirtualMemory(); err == nil && bad == nil {
		d.MemoryBytes, d.FreeBytes = m.Total, uint64(max(0, free))
	} else {
		d.problem("the free memory cannot be read: %v; give --max-memory", cmp.Or(err, bad))
	}
	d.lookAtHome()
	d.lookAtStores(env)
	d.lookAtPort(d.lookAtConfig(env))
	if d.Tier != d.Detected {
		d.problem("SAMPO_CPU masks the tier %s", d.Detected)
	}
	if d.Tier == "generic" {
		d.problem("there are no fast kernels for this CPU: models run, slowly")
	}
	return d
}

func (d *diagnosis) problem(format string, args ...any) {
	d.Problems = append(d.Problems, fmt.Sprintf(format, args...))
}

// cpuName returns the name that the processor gives itself.
func cpuName() string {
	if info, err := cpu.Info(); err == nil && len(info) > 0 && info[0].ModelName != "" {
		return info[0].ModelName
	}
	return "unknown"
}

func (d *diagnosis) lookAtHome() {
	info, err := os.Stat(d.Home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.HomeState = "not there yet; it is made when needed"
	case err != nil:
		d.HomeState = "unreadable"
		d.problem("the home cannot be looked at: %v", err)
	case !info.IsDir():
		d.HomeState = "not a folder"
		d.problem("%s is not a folder", d.Home)
	default:
		d.HomeState = "ok"
	}
}

// lookAtConfig finds the configuration file and the port that serve would take by it or by the environment.
func (d *diagnosis) lookAtConfig(env *Env) (port string) {
	if path, _ := configPath(env, ""); fileExists(path) {
		d.ConfigFile = path
	}
	file, _, err := readConfig(env, "")
	if err != nil {
		return fmt.Sprint(defaultPort) // that the file is wrong was said of its folders of models
	}
	port = cmp.Or(env.setting("SAMPO_PORT"), file["port"].text, fmt.Sprint(defaultPort))
	number, err := strconv.ParseUint(withoutZeros(port), 0, 16) // as flags take it
	if err != nil {
		d.problem("the port is %q, want 0 to 65535; it comes from SAMPO_PORT or the configuration", port)
		return fmt.Sprint(defaultPort)
	}
	return fmt.Sprint(number)
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (d *diagnosis) lookAtStores(env *Env) {
	r, err := env.registry()
	if err != nil {
		d.problem("%v", err)
	}
	for _, m := range r.Broken() {
		d.problem("%s (%s) cannot be opened: %s", m.Name, m.Store, m.Problem)
	}
	d.Next = "sampo run sampo/mini-chat"
	for _, s := range r.Stores() {
		n := len(r.In(s))
		d.Stores = append(d.Stores, storeFinding{s.Kind, s.Folder, fileExists(s.Folder), n})
		if n > 0 {
			d.Next = "sampo list"
		}
	}
}

// lookAtPort finds out whether serve could listen.
func (d *diagnosis) lookAtPort(port string) {
	address := net.JoinHostPort(defaultHost, port)
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EACCES) {
		d.Port = address + " is not open to this user"
		d.problem("%s; --port chooses another one", d.Port)
		return
	}
	if err != nil {
		d.Port = address + " is in use"
		d.problem("%s is in use: another sampo may be running; --port chooses another one", address)
		return
	}
	_ = l.Close()
	d.Port = address + " is free"
}

func (d *diagnosis) print(env *Env) error {
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "sampo\t%s, %s/%s\n", d.Version, d.OS, d.Arch)
	fmt.Fprintf(w, "processor\t%s, %s\n", d.CPU, plural(d.Cores, "core"))
	fmt.Fprintf(w, "tier\t%s (of %s; SAMPO_CPU=NAME chooses a lower one)\n", d.Tier, strings.Join(kernel.Tiers(), ", "))
	fmt.Fprintf(w, "memory\t%s, %s free\n", formatBytes(int64(d.MemoryBytes)), formatBytes(int64(d.FreeBytes)))
	fmt.Fprintf(w, "home\t%s (%s)\n", d.Home, d.HomeState)
	fmt.Fprintf(w, "configuration\t%s\n", orDash(d.ConfigFile))
	for _, s := range d.Stores {
		state := "not there"
		if s.Found {
			state = plural(s.Models, "model")
		}
		fmt.Fprintf(w, "store\t%s: %s (%s)\n", s.Kind, s.Folder, state)
	}
	fmt.Fprintf(w, "port\t%s\n", d.Port)
	for _, p := range d.Problems {
		fmt.Fprintf(w, "note\t%s\n", printable(p))
	}
	fmt.Fprintf(w, "next\t%s\n", d.Next)
	return w.Flush()
}
