<?php

declare(strict_types=1);

// What the conformance suite cannot see. `php tests/run.php` prints the tests that passed; the first that fails ends it.

use Fatoura\Amounts;
use Fatoura\CancelledError;
use Fatoura\ConnectionError;
use Fatoura\EventReader;
use Fatoura\Fatoura;
use Fatoura\Key;
use Fatoura\SignatureError;
use Fatoura\Webhooks;

foreach (glob(__DIR__ . '/../src/*.php') ?: [] as $file) {
    require_once $file;
}

const KEY = 'sk_test_secret';

function same(mixed $found, mixed $expected): void
{
    if ($found !== $expected) {
        throw new LogicException(var_export($found, true) . ' is not ' . var_export($expected, true));
    }
}

/** @param class-string<Throwable> $class */
function throws(string $class, string $text, Closure $call): Throwable
{
    try {
        $call();
    } catch (Throwable $error) {
        same($error::class, $class);
        same(str_contains($error->getMessage(), $text), true);

        return $error;
    }
    throw new LogicException("no {$class} was thrown");
}

/** @return array<string, Closure> */
function tests(): array
{
    return [
        'texts are read exactly' => function (): void {
            foreach (['1234.5' => 123450, '0.29' => 29, '-0.05' => -5, ' 12 ' => 1200] as $text => $expected) {
                same(Amounts::centimes((string) $text), $expected);
            }
        },
        'what is no amount is refused' => function (): void {
            foreach (['1,5', '1.234', '1e3', '', '٣', "1.5\n2", '+1'] as $text) {
                throws(RangeException::class, 'amount', fn () => Amounts::centimes($text));
            }
        },
        'centimes are written in dirhams' => function (): void {
            same(array_map(Amounts::dirhams(...), [123450, 5, -5, 0]), ['1234.50', '0.05', '-0.05', '0.00']);
        },
        'VAT is computed once for each rate and rounded half up' => function (): void {
            $line = fn (int $quantity, int $price): array => [
                'description' => 'x',
                'quantity' => $quantity,
                'unit_price' => $price,
            ];
            $lines = [
                $line(1, 5) + ['tax_rate' => 10],
                $line(3, 33),
                $line(1, 2) + ['tax_rate' => 20],
                $line(1, 7) + ['tax_rate' => 0],
            ];
            $rates = [
                ['rate' => 20, 'base' => 101, 'tax' => 20],
                ['rate' => 10, 'base' => 5, 'tax' => 1],
                ['rate' => 0, 'base' => 7, 'tax' => 0],
            ];
            $expected = ['subtotal' => 113, 'tax_total' => 21, 'tax_totals' => $rates, 'total' => 134];
            same(Amounts::totals($lines), $expected);
            throws(RangeException::class, 'more than', fn () => Amounts::totals([$line(PHP_INT_MAX, 2)]));
        },
        'what is not exact is refused' => function (): void {
            foreach ([12.5, 12.0, NAN] as $wrong) {
                throws(RangeException::class, 'centimes must be an integer', fn () => Amounts::dirhams($wrong));
            }
            $line = ['quantity' => 1, 'unit_price' => 3];
            foreach (['quantity' => 0.1, 'unit_price' => '3', 'tax_rate' => 5.5] as $name => $wrong) {
                throws(RangeException::class, "{$name} must be", fn () => Amounts::totals([[$name => $wrong] + $line]));
            }
            same(Amounts::dirhams(PHP_INT_MIN), '-92233720368547758.08');
        },
        'lines and characters of a stream may be cut anywhere' => function (): void {
            $stream = ": hello\r\n\r\nid: 7\r\ndata: {\rdata:  é}\n\ndata: x\n\n";
            $expected = [['id' => '7', 'data' => "{\n é}"], ['id' => '7', 'data' => 'x']];
            for ($size = 1; $size < strlen($stream); $size++) {
                $reader = new EventReader();
                $messages = [];
                foreach (str_split($stream, $size) as $part) {
                    array_push($messages, ...$reader->feed($part));
                }
                same($messages, $expected);
            }
        },
        'headers of $_SERVER, PSR-7 and Symfony are read' => function (): void {
            $header = 't=1,v1=' . hash_hmac('sha256', '1.{"id":"evt_1"}', 'whsec_a');
            foreach ([['HTTP_SERVICE_SIGNATURE' => $header], ['service-signature' => [$header]]] as $headers) {
                same(Webhooks::verify('{"id":"evt_1"}', $headers, 'whsec_a', now: 1)['id'], 'evt_1');
            }
        },
        'a missing secret is named, and one of a rotation may be missing' => function (): void {
            foreach ([null, false, [], [false], '', ['']] as $missing) {
                throws(SignatureError::class, 'whsec_', fn () => Webhooks::verify('{}', [], $missing));
            }
            throws(SignatureError::class, 'header', fn () => Webhooks::verify('{}', [], [false, '', 'whsec_a']));
        },
        'a tolerance that is no number is refused' => function (): void {
            $verify = fn (float $tolerance) => fn () => Webhooks::verify(
                '{}',
                ['Service-Signature' => 't=1,v1=00'],
                'whsec_a',
                $tolerance,
            );
            throws(SignatureError::class, 'tolerance must be', $verify(NAN));
            throws(SignatureError::class, 'tolerance must be', $verify(-1));
            throws(SignatureError::class, 'fit', $verify(INF));
        },
        'a blank key or order number is refused before anything is sent' => function (): void {
            $attempts = [];
            $tell = function (object $attempt) use (&$attempts): void {
                $attempts[] = $attempt;
            };
            $fatoura = new Fatoura(KEY, 'http://127.0.0.1:1', maxRetries: 0, onAttempt: $tell);
            $create = fn (string ...$options) => fn () => $fatoura->invoices->create([], ...$options);
            foreach (['', '  ', "\t\u{a0}\u{200f}"] as $blank) {
                throws(InvalidArgumentException::class, 'orderNumber is blank', $create(orderNumber: $blank));
                throws(InvalidArgumentException::class, 'leave it out', $create(idempotencyKey: $blank));
            }
            // The key is what is sent; that the number is blank is a fault of the program all the same.
            $both = $create(orderNumber: '', idempotencyKey: 'a');
            throws(InvalidArgumentException::class, 'orderNumber', $both);
            same($attempts, []);
            // Bytes that are no UTF-8 are a text.
            throws(ConnectionError::class, 'no complete answer', $create(orderNumber: "\xe9"));
        },
        'nothing that is printed has the key' => function (): void {
            $fatoura = new Fatoura(KEY, 'http://127.0.0.1:1', maxRetries: 0);
            $error = throws(ConnectionError::class, '/v1/invoices/inv_1', fn () => $fatoura->invoices->get('inv_1'));
            ob_start();
            var_dump($fatoura, $error);
            print_r($fatoura);
            print_r($error->getTrace());
            var_export($fatoura);
            echo serialize(new Key(KEY)), json_encode($fatoura), $error;
            same(str_contains((string) ob_get_clean(), KEY), false);
        },
        'a key may end with a line break, and one with other characters is refused without being shown' => function (): void {
            new Fatoura(KEY . "\n", 'http://localhost');
            foreach ([KEY . "\r\nX-Other: 1", KEY . ' x', KEY . 'é'] as $wrong) {
                $error = throws(InvalidArgumentException::class, 'characters', fn () => new Fatoura($wrong, 'http://localhost'));
                same(str_contains((string) $error, KEY), false);
            }
        },
        'a cancelled call ends in its pause' => function (): void {
            $begun = microtime(true);
            $isCancelled = fn (): bool => microtime(true) - $begun > 0.2;
            $fatoura = new Fatoura(KEY, 'http://127.0.0.1:1', isCancelled: $isCancelled);
            throws(CancelledError::class, 'cancelled', fn () => $fatoura->invoices->get('inv_1'));
            throws(CancelledError::class, 'cancelled', fn () => [...$fatoura->invoices->follow('inv_1')]);
            same(microtime(true) - $begun < 2, true);
        },
        'following ends at its time-out' => function (): void {
            $begun = microtime(true);
            $fatoura = new Fatoura(KEY, 'http://127.0.0.1:1');
            $follow = fn () => [...$fatoura->invoices->follow('inv_1', timeout: 1)];
            throws(ConnectionError::class, 'no final status', $follow);
            same(microtime(true) - $begun < 5, true);
        },
        'without key or address there is no client' => function (): void {
            throws(InvalidArgumentException::class, 'key', fn () => new Fatoura(getenv('NO_SUCH_VARIABLE'), 'http://x.test'));
            putenv('FATOURA_URL');
            throws(InvalidArgumentException::class, 'baseUrl', fn () => new Fatoura(KEY));
        },
    ];
}

foreach (tests() as $name => $test) {
    $test();
    echo "ok {$name}\n";
}
