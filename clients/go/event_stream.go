package fatoura

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"strings"
)

// event is a message of a stream of Server-Sent Events.
type event struct {
	id   string
	data string
}

// longestLine of a stream, in bytes.
const longestLine = 1 << 20

// events reads Server-Sent Events (HTML Living Standard, section 9.2.6): messages with data. Comments, which keep the
// connection alive, give nil. An error is the last thing that it yields.
func events(body io.Reader) iter.Seq2[*event, error] {
	return func(yield func(*event, error) bool) {
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, longestLine)
		lines.Split(splitLine)
		id := ""
		var data []string
		for lines.Scan() {
			line := lines.Text()
			name, text, _ := strings.Cut(line, ":")
			text = strings.TrimPrefix(text, " ")
			var found *event
			switch {
			case line == "" && len(data) > 0:
				found = &event{id, strings.Join(data, "\n")}
				data = nil
			case line != "" && name == "":
			default:
				if name == "data" {
					data = append(data, text)
				} else if name == "id" && !strings.ContainsFunc(text, isLostInHeaders) {
					// What no header carries could not be sent back.
					id = text
				}
				continue
			}
			if !yield(found, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, err)
		}
	}
}

func isLostInHeaders(char rune) bool {
	return char < ' ' || char > '~'
}

// splitLine finds a line, which ends with CRLF, LF or CR. One that the end of the stream cuts is none.
func splitLine(text []byte, isEnd bool) (int, []byte, error) {
	end := bytes.IndexAny(text, "\r\n")
	switch {
	case end < 0 || (text[end] == '\r' && end == len(text)-1 && !isEnd):
		// A CR at the end may be the first half of a CRLF.
		if isEnd {
			return len(text), nil, nil
		}
		return 0, nil, nil
	case text[end] == '\r' && end+1 < len(text) && text[end+1] == '\n':
		return end + 2, text[:end], nil
	}
	return end + 1, text[:end], nil
}
