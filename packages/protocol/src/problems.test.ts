import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { z } from 'zod'
import { describeProblem, parsedBy } from './problems.ts'
import { Flag, Timestamp, pageLimit, wholeNumberFrom } from './primitives.ts'

const problemOf = (schema: z.ZodType, value: unknown): string =>
  schema
    .safeParse(value, { error: describeProblem })
    .error?.issues.map(({ message }) => message)
    .join('; ') ?? 'none'

describe('the words for what is wrong with a value', () => {
  const cases: [z.ZodType, unknown, string][] = [
    [z.string(), undefined, 'is required'],
    [z.enum(['a', 'b']), undefined, 'is required'],
    [z.string(), 7, 'must be a string'],
    [z.number(), '7', 'must be a number'],
    [z.int(), 1.5, 'must be a whole number'],
    [wholeNumberFrom(1), 'x', 'must be a whole number in decimal digits'],
    [wholeNumberFrom(1), '0x10', 'must be a whole number in decimal digits'],
    [wholeNumberFrom(1), '1e2', 'must be a whole number in decimal digits'],
    [wholeNumberFrom(1), ' 5', 'must be a whole number in decimal digits'],
    [wholeNumberFrom(1), '+5', 'must be a whole number in decimal digits'],
    [wholeNumberFrom(1), '1.5', 'must be a whole number in decimal digits'],
    [wholeNumberFrom(1), '', 'must be a whole number in decimal digits'],
    [wholeNumberFrom(1), '0', 'must be at least 1'],
    [pageLimit(1, 1000), '99999999999999999999', 'must be at most 1000'],
    [z.boolean(), 'yes', 'must be true or false'],
    [z.array(z.string()), 'x', 'must be a list'],
    [z.object({}), [], 'must be an object'],
    [z.record(z.string(), z.string()), 'x', 'must be an object'],
    [z.null(), 1, 'must be null'],
    [z.literal('a'), 'b', 'must be a'],
    [z.enum(['a', 'b']), 'c', 'must be one of a, b'],
    [Flag, 'x', 'must be true or false'],
    [z.string().min(1), '', 'must not be empty'],
    [z.string().min(3), 'ab', 'must be at least 3 characters long'],
    [z.string().max(2), 'abc', 'must be at most 2 characters long'],
    [z.string().length(2), 'abc', 'must be exactly 2 characters long'],
    [z.array(z.string()).min(1), [], 'must not be empty'],
    [z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 item'],
    [z.number().min(1), 0, 'must be at least 1'],
    [z.number().max(1000), 1001, 'must be at most 1000'],
    [z.number().gt(0), 0, 'must be above 0'],
    [z.number().lt(1), 1, 'must be below 1'],
    [z.url(), 'x', 'must be a URL'],
    [Timestamp, 'x', 'must be a time such as 2026-01-31T12:00:00Z'],
    [z.string().regex(/^a$/), 'b', 'must match /^a$/'],
    [z.string().regex(/^a$/, 'must be an a'), 'b', 'must be an a'],
    [z.union([z.string(), z.number()]), true, 'must be a string or a number'],
    [
      z.discriminatedUnion('type', [
        z.object({ type: z.literal('a') }),
        z.object({ type: z.literal('b') }),
      ]),
      { type: 'c' },
      'must be one of a, b',
    ],
  ]
  for (const [schema, value, words] of cases)
    it(`${JSON.stringify(value) ?? 'nothing'}: ${words}`, () =>
      assert.equal(problemOf(schema, value), words))

  it('name each field once, and all forms of the value that are taken', () => {
    const Told = z.strictObject({
      either: z.union([z.string(), z.array(z.string()).min(1)]),
      deep: z.union([z.string(), z.object({ inner: z.int() })]),
    })
    assert.deepEqual(parsedBy(Told, { either: 1, deep: { inner: 'x' }, more: 1 }), {
      ok: false,
      problems:
        'either: must be a string or a list; deep.inner: must be a number; more: unknown field',
    })
    assert.deepEqual(parsedBy(z.string(), 1), { ok: false, problems: 'the input must be a string' })
    assert.deepEqual(parsedBy(z.string(), 'a'), { ok: true, value: 'a' })
  })

  it('never repeat the value', () => {
    const secret = 'sk-a-secret-value'
    const schemas = [z.int(), z.enum(['a']), z.url(), z.string().max(1), z.literal('a'), z.null()]
    for (const schema of schemas) assert.ok(!problemOf(schema, secret).includes(secret))
  })
})
