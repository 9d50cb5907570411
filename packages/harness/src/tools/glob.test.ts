import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { processorMs } from '@steward/base/cost-fixture.ts'
import { globMatcher } from './glob.ts'

const isMatch = (pattern: string, path: string) => globMatcher(pattern)?.(path)

void describe('a glob pattern', () => {
  const cases: [pattern: string, matching: string[], others: string[]][] = [
    ['*.ts', ['a.ts', '.ts', '.hidden.ts'], ['a/b.ts', 'a.tsx', 'ats']],
    ['**/*.ts', ['a.ts', 'a/b.ts', 'a/b/c.ts', '.github/x.ts'], ['a.js', 'a.ts/b']],
    ['src/**', ['src/a', 'src/a/b'], ['lib/a', 'srcs/a']],
    ['**/test/**/*.ts', ['test/a.ts', 'x/test/y/z/a.ts'], ['tests/a.ts']],
    ['a/**/b/**/c', ['a/b/c', 'a/x/b/y/z/c', 'a/b/b/c/c'], ['a/c', 'b/c']],
    ['**', ['a', 'a/b/c'], []],
    ['a?c', ['abc', 'a€c', 'a😀c'], ['ac', 'a/c', 'abbc']],
    ['[a-cx]*', ['b', 'xyz'], ['d', '']],
    ['[!a-c]', ['d'], ['a', 'dd']],
    ['[^]]', ['a'], [']']],
    ['[]a]', [']', 'a'], ['b']],
    ['[a-]', ['-', 'a'], ['b']],
    ['[abc', ['[abc'], ['a']],
    ['{a,b}/*.{ts,js}', ['a/x.ts', 'b/x.js'], ['c/x.ts', 'a/x.md']],
    ['{a,b{c,d}}', ['a', 'bc', 'bd'], ['b', 'a,b']],
    ['{,x}y', ['y', 'xy'], ['x']],
    ['{a}', ['{a}'], ['a']],
    ['{a,b', ['{a,b'], ['a']],
    ['\\*', ['*'], ['a']],
    ['\\{a,b\\}', ['{a,b}'], ['a']],
    ['./a//b', ['a/b'], ['./a/b']],
    ['(a|b)+.$^', ['(a|b)+.$^'], ['a']],
  ]
  for (const [pattern, matching, others] of cases) {
    void it(`${pattern} matches what it should and nothing else`, () => {
      for (const path of matching) assert.equal(isMatch(pattern, path), true, path)
      for (const path of others) assert.equal(isMatch(pattern, path), false, path)
    })
  }

  void it('cannot be made to take long', () => {
    const began = processorMs()
    assert.equal(isMatch('*a'.repeat(100) + 'b', 'a'.repeat(255)), false)
    assert.equal(isMatch('**/a/'.repeat(100) + 'b', 'a/'.repeat(1_000) + 'a'), false)
    assert.ok(processorMs() - began < 500)
    assert.equal(globMatcher('{a,b}'.repeat(12)), undefined)
    assert.equal(globMatcher(`{${'a,'.repeat(30)}a}${'a/'.repeat(400)}`), undefined)
    assert.ok(processorMs() - began < 1_000)
  })
})
