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

    /**
     * Reads an amount in dirhams as centimes: `'1234.5'` → 123450. Texts, because a number such as 0.1 is not exact.
     *
     * @throws \RangeException for what is not an amount with at most two decimals, in plain digits with a point
     */
    public static function centimes(string $dirhams): int
    {
        if (!preg_match('/^(-?)(\d{1,14})(?:\.(\d{1,2}))?$/D', trim($dirhams), $found)) {
            throw new \RangeException(
                "'{$dirhams}' is not an amount in dirhams with at most two decimals, such as '1234.50'.",
            );
        }

        return (int) ($found[1] . $found[2] . str_pad($found[3] ?? '', 2, '0'));
    }

    /** Writes centimes in dirhams: 123450 → `'1234.50'`. */
    public static function dirhams(int $centimes): string
    {
        $digits = str_pad((string) abs($centimes), 3, '0', STR_PAD_LEFT);

        return ($centimes < 0 ? '-' : '') . substr($digits, 0, -2) . '.' . substr($digits, -2);
    }

    /**
     * Computes the totals of lines as the service does: VAT once for each rate, rounded half up.
     *
     * @param list<LineInput> $lines
     * @return array{subtotal: int, tax_total: int, tax_totals: list<TaxTotal>, total: int} `total` is what an invoice of
     *     these lines states as its `amount`; the highest rate is the first of `tax_totals`
     * @throws \RangeException for a sum that an integer cannot hold
     */
    public static function totals(array $lines): array
    {
        $bases = [];
        foreach ($lines as $line) {
            $rate = $line['tax_rate'] ?? self::DEFAULT_RATE;
            $bases[$rate] = self::whole(($bases[$rate] ?? 0) + $line['quantity'] * $line['unit_price']);
        }
        krsort($bases);
        $rates = [];
        foreach ($bases as $rate => $base) {
            $rates[] = ['rate' => $rate, 'base' => $base, 'tax' => intdiv(self::whole($base * $rate + 50), 100)];
        }
        $subtotal = self::whole(array_sum(array_column($rates, 'base')));
        $tax = self::whole(array_sum(array_column($rates, 'tax')));

        return ['subtotal' => $subtotal, 'tax_total' => $tax, 'tax_totals' => $rates, 'total' => $subtotal + $tax];
    }

    /** PHP makes a number with a point, which is not exact, of an integer that is too large. */
    private static function whole(int|float $sum): int
    {
        return is_int($sum) ? $sum : throw new \RangeException('The lines are too large to be added exactly.');
    }
}
