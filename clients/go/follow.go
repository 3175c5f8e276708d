package fatoura

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"fatoura.example/fatoura/internal/streams"
)

const (
	// Pauses between two connections, and between two readings where streams do not pass.
	reconnectPause = 500 * time.Millisecond
	pollPause      = 2 * time.Second
	// After so many connections without any message the invoice is read instead: something on the way holds streams
	// back.
	futileStreams = 3
	// Then a stream is tried in every so many readings: the network may only have been down.
	readingsPerStream = 15
)

// inOrder has the statuses before the final ones.
var inOrder = []InvoiceStatus{InvoiceStatusPending, InvoiceStatusSigning, InvoiceStatusTransmitted}

// following is an invoice that is followed.
type following struct {
	sender *sender
	id     string
	yield  func(*StatusMessage, error) bool
	// The id of the last message, its status, and the statuses that were told.
	last   string
	status InvoiceStatus
	told   []InvoiceStatus
	// Whether the status is final, or the caller wants no more.
	isEnded bool
}

func (f *following) run(ctx context.Context) error {
	for futile := 0; ; {
		before := f.status
		err := f.once(ctx, futile < futileStreams || futile%readingsPerStream == 0)
		if f.isEnded {
			return nil
		}
		if err != nil && ctx.Err() != nil {
			return ended(ctx, err)
		}
		failure := new(Error)
		if err != nil && (!errors.As(err, &failure) || !failure.isPassing()) {
			return err
		}
		pause := reconnectPause
		if futile++; before != f.status {
			futile = 0
		} else if futile >= futileStreams {
			pause = pollPause
		}
		pause = max(pause, restOf(failure))
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// once follows a stream to its end, and reads the invoice, because the message of its final status may be lost.
func (f *following) once(ctx context.Context, mayStream bool) error {
	if mayStream {
		if err := f.stream(ctx); err != nil || f.isEnded {
			return err
		}
	}
	path := invoicesPath + "/" + url.PathEscape(f.id)
	message, err := read[StatusMessage](ctx, f.sender, path, nil)
	if err == nil {
		f.tell(message)
	}
	return err
}

// stream yields the messages of one connection.
func (f *following) stream(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := time.AfterFunc(streams.LongestSilence, cancel)
	defer watch.Stop()
	call := call{method: "GET", path: invoicesPath + "/" + url.PathEscape(f.id) + "/stream", header: http.Header{}}
	if f.last != "" {
		call.header.Set("Last-Event-ID", f.last)
	}
	response, err := f.sender.open(ctx, call)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		return nil
	}
	for event, err := range events(response.Body) {
		watch.Reset(streams.LongestSilence)
		if err != nil {
			return f.sender.unanswered(call, err)
		}
		if event == nil {
			continue
		}
		message := new(StatusMessage)
		if err := json.Unmarshal([]byte(event.data), message); err != nil || message.Status == "" {
			return f.sender.unanswered(call, errors.New("a message of the stream has no status"))
		}
		if event.id != "" {
			f.last = event.id
		}
		if f.tell(message); f.isEnded {
			return nil
		}
	}
	return nil
}

// tell yields a message of a later status than the last one. A stream repeats what came after its last message, of
// which a reading may have told the end.
func (f *following) tell(message *StatusMessage) {
	place := slices.Index(inOrder, message.Status)
	if slices.Contains(f.told, message.Status) || place >= 0 && place < slices.Index(inOrder, f.status) {
		return
	}
	f.status, f.told = message.Status, append(f.told, message.Status)
	isFinal := f.status == InvoiceStatusAccepted || f.status == InvoiceStatusRejected
	f.isEnded = !f.yield(message, nil) || isFinal
}
