// Sends one record with franz-go or kafka-go, as each comes: codec and partitioner are theirs unless a flag names another.
//
//	clients -client franz-go|kafka-go -brokers host:port -topic name -key text [-codec name] [-murmur2] < value
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

type record struct {
	brokers      []string
	topic, codec string
	key, value   []byte
	murmur2      bool
}

func main() {
	client := flag.String("client", "", "franz-go or kafka-go")
	brokers := flag.String("brokers", "", "host:port[,host:port]")
	topic := flag.String("topic", "", "topic")
	key := flag.String("key", "", "key")
	codec := flag.String("codec", "", "gzip, snappy, lz4 or zstd; the client's own default when it is left out")
	murmur2 := flag.Bool("murmur2", false, "the partitioner of Java, where the client has another by default")
	flag.Parse()
	value, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = send(*client, record{strings.Split(*brokers, ","), *topic, *codec, []byte(*key), value, *murmur2})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func send(client string, r record) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	switch client {
	case "franz-go":
		return franz(ctx, r)
	case "kafka-go":
		return segment(ctx, r)
	}
	return fmt.Errorf("no client %q", client)
}

func franz(ctx context.Context, r record) error {
	options := []kgo.Opt{kgo.SeedBrokers(r.brokers...)}
	if r.codec != "" {
		codecs := map[string]kgo.CompressionCodec{
			"gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
		}
		options = append(options, kgo.ProducerBatchCompression(codecs[r.codec]))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return err
	}
	defer client.Close()
	return client.ProduceSync(ctx, &kgo.Record{Topic: r.topic, Key: r.key, Value: r.value}).FirstErr()
}

func segment(ctx context.Context, r record) error {
	writer := &kafka.Writer{Addr: kafka.TCP(r.brokers...), Topic: r.topic, BatchSize: 1}
	if r.murmur2 {
		writer.Balancer = kafka.Murmur2Balancer{}
	}
	if r.codec != "" {
		codecs := map[string]kafka.Compression{"gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd}
		writer.Compression = codecs[r.codec]
	}
	defer writer.Close()
	return writer.WriteMessages(ctx, kafka.Message{Key: r.key, Value: r.value})
}
