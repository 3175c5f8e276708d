<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * Amounts in centimes, exactly.
 *
 * @phpstan-import-type LineInput from Models
 * @phpstan-import-type TaxTotal from Models
 */
final class Amounts
{
    private const DEFAULT_RATE = 20;
    /** The largest amount of the service, which JSON carries exactly to programs in every language. */
    private const MOST = 2 ** 53 - 1;

    /**
     * Reads an amount in dirhams as centimes: `'1234.5'` → 123450. Texts, because a number such as 0.1 is not exact.
     *
     * @throws \RangeException for what is not an amount with at most two decimals, in plain digits with a point, or more
     *     than the service takes
     */
    public static function centimes(string $dirhams): int
    {
        if (!preg_match('/^(-?)(\d{1,14})(?:\.(\d{1,2}))?$/D', trim($dirhams), $found)) {
            throw new \RangeException(
                "'{$dirhams}' is not an amount in dirhams with at most two decimals, such as '1234.50'.",
            );
        }

        return self::within((int) ($found[1] . $found[2] . str_pad($found[3] ?? '', 2, '0')));
    }

    /**
     * Writes centimes in dirhams: 123450 → `'1234.50'`.
     *
     * @param int $centimes
     * @throws \RangeException for a fraction, which PHP would cut for callers without strict types
     */
    public static function dirhams(int|float $centimes): string
    {
        $digits = str_pad(ltrim((string) self::whole('centimes', $centimes), '-'), 3, '0', STR_PAD_LEFT);

        return ($centimes < 0 ? '-' : '') . substr($digits, 0, -2) . '.' . substr($digits, -2);
    }

    /**
     * Computes the totals of lines as the service does: VAT once for each rate, rounded half up.
     *
     * @param list<LineInput> $lines
     * @return array{subtotal: int, tax_total: int, tax_totals: list<TaxTotal>, total: int} `total` is what an invoice of
     *     these lines states as its `amount`; the highest rate is the first of `tax_totals`
     * @throws \RangeException for a fraction, a negative quantity or price, and for more than the service takes
     */
    public static function totals(array $lines): array
    {
        $bases = [];
        foreach ($lines as $line) {
            $rate = self::whole('tax_rate', $line['tax_rate'] ?? self::DEFAULT_RATE);
            $net = self::natural('quantity', $line['quantity']) * self::natural('unit_price', $line['unit_price']);
            $bases[$rate] = self::within(($bases[$rate] ?? 0) + $net);
        }
        krsort($bases);
        $rates = [];
        foreach ($bases as $rate => $base) {
            $rates[] = ['rate' => $rate, 'base' => $base, 'tax' => intdiv($base * $rate + 50, 100)];
        }
        $subtotal = self::within(array_sum(array_column($rates, 'base')));
        $tax = self::within(array_sum(array_column($rates, 'tax')));
        $total = self::within($subtotal + $tax);

        return ['subtotal' => $subtotal, 'tax_total' => $tax, 'tax_totals' => $rates, 'total' => $total];
    }

    private static function whole(string $name, mixed $number): int
    {
        if (!is_int($number)) {
            $shown = is_scalar($number) ? var_export($number, true) : get_debug_type($number);
            throw new \RangeException("{$name} must be an integer, not {$shown}: other numbers are not exact.");
        }

        return $number;
    }

    private static function natural(string $name, mixed $number): int
    {
        $whole = self::whole($name, $number);
        if ($whole < 0) {
            throw new \RangeException("{$name} must not be negative, as {$whole} is.");
        }

        return $whole;
    }

    /** PHP makes a number with a point, which is not exact, of an integer that is too large. */
    private static function within(int|float $centimes): int
    {
        if (!is_int($centimes) || $centimes > self::MOST || $centimes < -self::MOST) {
            throw new \RangeException("{$centimes} centimes are more than the service takes.");
        }

        return $centimes;
    }
}
