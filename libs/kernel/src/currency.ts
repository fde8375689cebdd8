// Minor units of currencies. Apart from the index: pages of the console read it too, where there is no Node.

/** Decimals of those that do not have two (ISO 4217). Browsers and Node go by CLDR, which gives other numbers for what prices look like. */
const DECIMALS: Readonly<Record<string, readonly string[]>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' '),
  3: 'BHD IQD JOD KWD LYD OMR TND'.split(' '),
  4: 'CLF UYW'.split(' '),
};
const USUAL = 2;

/** How many decimals a currency's minor units stand for; two where the currency is unknown. Pure. */
export function decimalsOf(currency: string): number {
  const found = Object.entries(DECIMALS).find(([, currencies]) => currencies.includes(currency));
  return found === undefined ? USUAL : Number(found[0]);
}
