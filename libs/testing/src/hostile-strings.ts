// Texts that break programs which trust them: for every field that somebody outside can fill.

export interface HostileString {
  readonly name: string;
  readonly text: string;
}

const code = (point: number): string => `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
const points = (from: number, to: number): readonly number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const inside = (kind: string, all: readonly number[]): readonly HostileString[] => all.map((point) => ({ name: `${kind} ${code(point)}`, text: `pay${String.fromCodePoint(point)}me` }));
const named = (kind: string, texts: readonly string[]): readonly HostileString[] => texts.map((text, at) => ({ name: `${kind} ${String(at + 1)}`, text }));

/** Control characters that a terminal or a log obeys. */
const CONTROLS = [...inside('control', points(0x00, 0x1f)), ...inside('control', points(0x7f, 0x9f))];
/** Characters without a width, and those that turn the direction of what follows. */
const UNSEEN = inside('unseen', [0xad, 0x34f, 0x61c, 0x115f, 0x17b4, 0x180e, ...points(0x200b, 0x200f), ...points(0x2028, 0x202e), ...points(0x2060, 0x206f), 0xfe0f, 0xfeff, 0xfff9, 0xfffc, 0xfffe, 0xe0001, 0xe0041, 0x10ffff]);
const SEQUENCES = named('terminal', [
  '\u001b[2J\u001b[H', '\u001b]0;title\u0007', '\u001b[31mred\u001b[0m', '\u001b[1A\u001b[2Kapproved', '\u001bP1;1|17/ab\u001b\\', '\u009b2J', '\u001b]8;;http://a.test\u0007link\u001b]8;;\u0007',
  '\u001b[?1049h', '\u001b[6n', '\rstate  compensated', '\b\b\b\b\bstate', '\u001b]52;c;cm0gLXJm\u0007', '\u001bc', '\u001b[999;999H', '\u0007\u0007\u0007',
]);
const INJECTIONS = named('injection', [
  "'; DROP TABLE mutations; --", "' OR '1'='1", '" OR ""="', '1; SELECT pg_sleep(10)', "\\'; --", '%00', '%', '_', '\\', '\\\\', "E'\\x00'", '$$', '$1', '{{7*7}}', '${7*7}', '#{7*7}', '<%= 7*7 %>',
  '<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '"><svg/onload=alert(1)>', 'javascript:alert(1)', '&lt;b&gt;', ']]>', '<!--', '<?xml version="1.0"?>', '<!ENTITY a SYSTEM "file:///etc/passwd">',
  '../../../etc/passwd', '..\\..\\windows', '/dev/null', 'file:///etc/passwd', 'C:\\CON', '~root', '$(reboot)', '`reboot`', '| reboot', '; reboot', '&& reboot', '-rf', '--help', '=1+1', '@SUM(1)', '+1', '\t=1',
  '{"a":', '[', '}', ',', ':', '"', "'", '\\u0000', '\\x00', 'a\\nb', 'null, "x": 1', '*', '?', '(a+)+$', '^', '[a-z', 'true || request.args', 'size(args) > 0', 'a.b.c', "a['b']", 'x == x', '# a heading', '| a | table |',
  'http://127.0.0.1:1/', '//a.test/', 'a@b.test\r\nBcc: c@d.test', 'x\r\nSet-Cookie: a=b', '%0d%0aX: y', '/v1/mutations/../parked', '?limit=1', '#fragment', 'commit/abc#stands', 'order/1#', '#', 'eff_', 'mut_0', 'rev_rev_', 'sha256:',
]);
const NAMES = named('name', ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'undefined', 'null', 'true', 'NaN', 'Infinity', '-0', '0', '1e309', '9007199254740993', '0x10', '1_000', 'ⅷ', '١٢٣', '𝟙𝟚']);
const TEXTS = named('text', [
  ' ', '  leading', 'trailing  ', '\u3000', 'ﷺ', 'ß', 'ﬃ', 'İ', 'ı', 'Ω', 'é', 'e\u0301', 'раypal', 'аdmin', 'ａｄｍｉｎ', 'Z̴̡̛a̷̢l̸̨g̵̨o̶', '👩‍👩‍👧‍👦', '🏳️‍🌈', '🇮🇳', '𠜎', 'שלום', 'مرحبا', '日本語', '\u{1F600}', 'a\u0300\u0301\u0302\u0303\u0304',
  '\ud800', '\udc00', 'a\ud83d', '\ude00b', 'x'.repeat(512), 'x'.repeat(513), 'é'.repeat(300), 'x'.repeat(10_240),
]);

/** More than 200 texts, no two alike. */
export const HOSTILE_STRINGS: readonly HostileString[] = [...CONTROLS, ...UNSEEN, ...SEQUENCES, ...INJECTIONS, ...NAMES, ...TEXTS];
