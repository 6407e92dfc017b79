// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// goLayouts are the directives of strftime that package time knows too.
var goLayouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'h': "Jan", 'd': "02", 'e': "_2", 'm': "01", 'y': "06", 'H': "15",
	'I': "03", 'p': "PM", 'M': "04", 'S': "05", 'f': "000000", 'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'D': "01/02/06",
	'X': "15:04:05", 'T': "15:04:05", 'F': "2006-01-02", 'R': "15:04", 'r': "03:04:05 PM",
}

// strftime prints a time as Python's datetime.strftime does in the C locale, without a time zone.
func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i == len(format)-1 {
			b.WriteByte(format[i])
			continue
		}
		i++
		flag := byte(0)
		if (format[i] == '-' || format[i] == '_' || format[i] == '0') && i+1 < len(format) {
			flag = format[i]
			i++
		}
		b.WriteString(padded(directive(t, format[i]), flag))
	}
	return b.String()
}

// padded applies glibc's flags: - for no padding, _ for blanks.
func padded(s string, flag byte) string {
	bareText := strings.TrimLeft(s, "0 ")
	if bareText == "" || bareText[0] < '0' || bareText[0] > '9' {
		bareText = s[max(len(s)-1, 0):]
	}
	switch flag {
	case '-':
		return bareText
	case '_':
		return strings.Repeat(" ", len(s)-len(bareText)) + bareText
	}
	return s
}

func directive(t time.Time, c byte) string {
	if layout, ok := goLayouts[c]; ok {
		if c == 'f' {
			return fmt.Sprintf("%06d", t.Nanosecond()/1000)
		}
		return t.Format(layout)
	}
	year, week := t.ISOWeek()
	weekday := int(t.Weekday())
	switch c {
	case 'Y':
		return strconv.Itoa(t.Year())
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100)
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay())
	case 'U':
		return fmt.Sprintf("%02d", (t.YearDay()+6-weekday)/7)
	case 'W':
		return fmt.Sprintf("%02d", (t.YearDay()+6-(weekday+6)%7)/7)
	case 'w':
		return strconv.Itoa(weekday)
	case 'u':
		return strconv.Itoa((weekday+6)%7 + 1)
	case 'G':
		return strconv.Itoa(year)
	case 'g':
		return fmt.Sprintf("%02d", year%100)
	case 'V':
		return fmt.Sprintf("%02d", week)
	case 'k':
		return fmt.Sprintf("%2d", t.Hour())
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1)
	case 's':
		return strconv.FormatInt(t.Unix(), 10)
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case '%':
		return "%"
	case 'z', 'Z':
		return "" // Python's clock has no zone
	}
	return "%" + string(rune(c))
}
