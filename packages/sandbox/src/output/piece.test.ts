import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hideSecrets, outputMask } from '../secrets.ts'
import type { OutputMask, OutputPiece } from './piece.ts'
import { buildOutputPiece } from './piece.ts'

/** The end of an output as a reader gets it that reads so many bytes. */
const endOf = (output: Buffer, most = 8 << 10) => ({
  bytes: output.subarray(Math.max(0, output.length - most)),
  total: output.length,
  quietMs: 5,
})

const newTextOf = ({ text, newIndex }: OutputPiece): string => text.slice(newIndex)

/** What a listener hears that looks after each of these writes. */
function heard(writes: readonly (string | Buffer)[], mask?: OutputMask, most?: number) {
  const pieces: OutputPiece[] = []
  let output = Buffer.alloc(0)
  for (const each of writes) {
    output = Buffer.concat([output, Buffer.from(each)])
    pieces.push(buildOutputPiece(endOf(output, most), pieces.at(-1)?.end ?? 0, mask))
  }
  return pieces
}

const joined = (pieces: readonly OutputPiece[]): string => pieces.map(newTextOf).join('')

void describe('pieces of an output', () => {
  void it('follow one another by their offsets, and join to the output', () => {
    const pieces = heard(['one\n', 'two\n', '', 'three\n'])
    assert.deepEqual(pieces.map(newTextOf), ['one\n', 'two\n', '', 'three\n'])
    assert.deepEqual(
      pieces.map(({ newOffset, end, total }) => [newOffset, end, total]),
      [
        [0, 4, 4],
        [4, 8, 8],
        [8, 8, 8],
        [8, 14, 14],
      ],
    )
    assert.deepEqual(
      pieces.map(({ text, offset }) => [text, offset]),
      [
        ['one\n', 0],
        ['one\ntwo\n', 0],
        ['one\ntwo\n', 0],
        ['one\ntwo\nthree\n', 0],
      ],
    )
  })

  void it('hold back a character and an escape sequence that are not whole', () => {
    const bytes = Buffer.from(
      'größe \u001b[31mrot\u009b0m \u001b]8;;https://a.b/\u001b\\link\u001b]8;;\u0007 ende €',
    )
    const writes = Array.from(bytes, (byte) => Buffer.of(byte))
    const pieces = heard(writes)
    assert.equal(joined(pieces), 'größe rot link ende €')
    assert.equal(pieces.at(-1)?.end, bytes.length)
    for (const { text } of pieces)
      for (const part of ['\ufffd', '[', '\u001b']) assert.ok(!text.includes(part), text)
  })

  void it('omit the middle of an output that grows fast, and say so by the offset', () => {
    const line = `${'x'.repeat(98)}\n`
    const [first, second] = heard([line, line.repeat(1_000)])
    assert.equal(first?.end, 99)
    assert.ok(second)
    assert.ok(second.newOffset > 99_000 - 4_096 && second.newOffset % 99 === 0)
    assert.ok(second.text.length <= 4_096 && second.text.startsWith('x'))
    assert.equal(second.offset, second.newOffset)
    assert.equal(second.end, 99 * 1_001)
  })

  void it('have at most 4 KiB of one line of 4 MiB, of bytes that are no text, and of many lines', () => {
    for (const output of [Buffer.alloc(4 << 20, 'a'), Buffer.alloc(1 << 20, 0xff)]) {
      const piece = buildOutputPiece(endOf(output), 0)
      assert.ok(piece.text.length <= 4_096 && piece.text.length > 1_000)
      assert.ok(output.length - piece.end < 4)
    }
    const many = Buffer.from(Array.from({ length: 50_000 }, (_, n) => `line ${n}\n`).join(''))
    const { text } = buildOutputPiece(endOf(many), 0)
    assert.match(text, /^line \d+\n[^]*line 49999\n$/)
    assert.ok(text.length <= 4_096)
  })

  void it('send their end to those who heard no piece before', () => {
    const writes = Array.from({ length: 500 }, (_, n) => `line ${n}\n`)
    const last = heard(writes).at(-1)
    assert.ok(last)
    assert.equal(newTextOf(last), 'line 499\n')
    assert.match(last.text, /^line \d+\n[^]*line 498\nline 499\n$/)
    assert.ok(last.text.length > 3_000 && last.text.length <= 4_096)
  })
})

const secret = 'hunter2-and-more'
const spellings = [
  secret,
  Buffer.from(`user:${secret}`).toString('base64'),
  encodeURIComponent(`${secret}/`),
  `"\\u0068unter2-and-more"`,
  'hunter2\u001b[1m-and-\u001b[0mmore',
]

void describe('pieces of an output of a command that has secrets', () => {
  void it('show no part of a secret, wherever two pieces are cut', () => {
    for (const spelling of spellings) {
      const bytes = Buffer.from(`before\n${spelling}\nafter\n`)
      for (let cut = 1; cut < bytes.length; cut++) {
        const pieces = heard([bytes.subarray(0, cut), bytes.subarray(cut)], outputMask([secret]))
        const text = joined(pieces)
        assert.match(text, /^before\n[^]*\*{8,}[^]*\nafter\n$/, `${spelling} at ${cut}`)
        for (const { text: all } of pieces)
          assert.doesNotMatch(all, /unter|and-|more|aHVudGVy|bW9yZQ/, `${spelling} at ${cut}`)
      }
    }
  })

  void it('show no part of a short secret, of one with several lines, or of one of other letters', () => {
    for (const [value, shows] of [
      ['k3y!', /k3y|3y!/],
      ['first-line\nsecond-line', /first|second|-line/],
      ['schlüsselchen', /schl|chen|ü/],
    ] as const) {
      const bytes = Buffer.from(`before\n${value}\nafter\n`)
      for (let cut = 1; cut < bytes.length; cut++) {
        const pieces = heard([bytes.subarray(0, cut), bytes.subarray(cut)], outputMask([value]))
        assert.match(joined(pieces), /^before\n\*+[^]*after\n$/)
        for (const { text } of pieces) assert.doesNotMatch(text, shows, `${value} at ${cut}`)
      }
    }
  })

  void it('come byte by byte, and show what is no secret', () => {
    const text = `a\n${secret}\nb ${secret} c\nhunter is no secret\n`
    const writes = Array.from(Buffer.from(text), (byte) => Buffer.of(byte))
    const stars = '*'.repeat(secret.length)
    assert.equal(
      joined(heard(writes, outputMask([secret]))),
      `a\n${stars}\nb ${stars} c\nhunter is no secret\n`,
    )
  })

  void it('show nothing of a secret in the part where the middle is omitted', () => {
    for (let shift = 0; shift < 40; shift++) {
      const noise = 'x'.repeat(70_000)
      const long = `${noise}${secret}${'y'.repeat(4_080 - shift)}\n`
      const [, piece] = heard(['a\n', long], outputMask([secret]), 64 << 10)
      assert.ok(piece)
      assert.doesNotMatch(piece.text, /[^xy*\n]/)
      const cut = `${'x'.repeat(10)}${secret}${'y'.repeat((64 << 10) - 4 - shift)}\n`
      const [, other] = heard(['a\n', cut], outputMask([secret]), 64 << 10)
      assert.doesNotMatch(other?.text ?? '', /[^xy*\n]/)
    }
  })

  void it('show nothing of a secret with whose rest the part begins that is read', () => {
    const most = 64 << 10
    for (const spelling of spellings)
      for (let cut = 1; cut < spelling.length; cut++) {
        // What could be the beginning of a secret holds a long line back.
        const line = 'x'.repeat(most - cut - 1 - 4)
        const output = `${'y'.repeat(100)}${spelling}\n${line}hunt`
        const { text } = buildOutputPiece(endOf(Buffer.from(output), most), 0, outputMask([secret]))
        assert.doesNotMatch(text, /[^xy]/, `${spelling} at ${cut}`)
      }
  })

  void it('show what the result shows, whatever comes when', () => {
    const values = [secret, 'first-line\nsecond-line']
    const parts = [...spellings.filter((each) => !each.includes('\u001b')), ...values]
    const noise = ['plain words ', 'hunt', 'line\n', '\\', '%', 'aHVud', 'first-line\n']
    const long = ['z'.repeat(3_000), 'z'.repeat(30_000)]
    const choose = chooser(7)
    for (let round = 0; round < 20; round++) {
      let output = ''
      while (output.length < 150_000)
        output += choose([choose(parts), choose(noise), choose(noise), choose(long)])
      const result = hideSecrets({ output, bytes: 0, ended: 'exit', exitCode: 0 }, values)
      const bytes = Buffer.from(output)
      const mask = outputMask(values)
      let told = 0
      for (let at = 0; at < bytes.length;) {
        at = Math.min(bytes.length, at + choose([7, 50, 3_000, 9_000, 70_000]))
        const piece = buildOutputPiece(endOf(bytes.subarray(0, at), 64 << 10), told, mask)
        assert.equal(piece.text, result.output.slice(piece.offset, piece.end))
        assert.ok(piece.text.length <= 4_096 && piece.newOffset >= told && piece.end >= told)
        told = piece.end
      }
    }
  })
})

/** Chooses the same things in each run. */
function chooser(seed: number) {
  let state = seed
  return <T>(things: readonly [T, ...T[]] | readonly T[]): T => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    const chosen = things[Math.floor(state / 256) % things.length]
    assert.ok(chosen !== undefined)
    return chosen
  }
}
