<?php

declare(strict_types=1);

// Runs the calls of the conformance suite (clients/conformance/README.md).

use Fatoura\Amounts;
use Fatoura\ApiError;
use Fatoura\Fatoura;
use Fatoura\FatouraError;
use Fatoura\Following;
use Fatoura\Webhooks;

foreach (glob(__DIR__ . '/src/*.php') ?: [] as $file) {
    require_once $file;
}

/** Names in PHP's style, and seconds for milliseconds. */
function named(array $options): array
{
    $named = [];
    foreach ($options as $name => $value) {
        $named[preg_replace('/Ms$/', '', $name)] = preg_match('/Ms$|^now$/', $name) ? $value / 1000 : $value;
    }

    return $named;
}

function begun(array $call): mixed
{
    static $clients = [];
    ['call' => $name, 'args' => $args] = $call;
    [$resource, $method] = explode('.', $name);
    if ($resource === 'amounts') {
        return Amounts::$method(...$args);
    }
    if ($resource === 'webhooks') {
        return Webhooks::verify($args[0], $args[1], $args[2], ...named($args[3] ?? []));
    }
    ['silence' => Following::$longestSilence] = $options = named($call['options'] ?? []) + ['silence' => 40.0];
    unset($options['silence']);
    $client = $clients[json_encode($options)] ??= new Fatoura(...$options + ['key' => getenv('FATOURA_KEY')]);
    if ($name === 'invoices.list') {
        return $client->invoices->list($args[0] ?? []);
    }
    $count = ['invoices.credit' => 2, 'invoices.replace' => 2, 'drafts.update' => 2, 'webhookEndpoints.update' => 2];
    $positional = array_slice($args, 0, $count[$name] ?? 1);

    return $client->$resource->$method(...$positional, ...named($args[count($positional)] ?? []));
}

function shown(Throwable $error): array
{
    if (!$error instanceof FatouraError) {
        return ['class' => 'ArgumentError', 'message' => $error->getMessage()];
    }
    $class = (new ReflectionClass($error))->getShortName();
    $said = ['class' => $class, 'message' => $error->getMessage(), 'idempotencyKey' => $error->idempotencyKey];
    if (!$error instanceof ApiError) {
        return $said;
    }
    $hasRequestId = $error->requestId !== null;
    $refusal = ['code' => $error->errorCode, 'param' => $error->param, 'status' => $error->status];

    return $said + $refusal + ['hasRequestId' => $hasRequestId];
}

function run(array $call): array
{
    if ($call['call'] === 'many') {
        return ['ok' => atOnce($call['args'][0])];
    }
    try {
        $result = begun($call);

        return ['ok' => $result instanceof Traversable ? iterator_to_array($result, false) : $result];
    } catch (FatouraError | InvalidArgumentException | RangeException $error) {
        return ['error' => shown($error)];
    } catch (Error $error) {
        // What PHP says of an option that a call does not have.
        return str_starts_with($error->getMessage(), 'Unknown named parameter') ? ['error' => shown($error)] : throw $error;
    }
}

/** PHP has no threads: each call has a process. */
function atOnce(array $calls): array
{
    $begin = static function (array $call): array {
        $process = proc_open([PHP_BINARY, __FILE__], [['pipe', 'r'], ['pipe', 'w'], STDERR], $pipes);
        fwrite($pipes[0], json_encode($call) . "\n");
        fclose($pipes[0]);

        return [$process, $pipes[1]];
    };
    $results = [];
    foreach (array_map($begin, $calls) as [$process, $output]) {
        $results[] = json_decode((string) stream_get_contents($output), true);
        proc_close($process);
    }

    return $results;
}

while (($line = fgets(STDIN)) !== false) {
    echo json_encode(run(json_decode($line, true)), JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE), "\n";
}
