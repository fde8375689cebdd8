// What the example's contract allows: refunds up to this, in this currency.
export const REFUND_CAP_MINOR = 500_000;
export const CURRENCY = 'INR';
