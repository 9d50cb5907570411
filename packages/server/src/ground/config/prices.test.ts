import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { readConfig } from './config.ts'

describe('a file with prices', () => {
  const folder = mkdtempSync(join(tmpdir(), 'steward-prices-'))
  after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'prices.json')
  function read(text: string) {
    writeFileSync(path, text)
    return readConfig({ PLATFORM_ROOT_SECRET: 'a secret of the tests', MODEL_PRICES: path })
  }

  it('names models with prices, and models without', () => {
    const config = read('{"a": {"input": 3, "output": 15, "cacheRead": 0.3}, "x/b": null}')
    assert.ok(config.ok)
    assert.deepEqual(
      [...config.config.prices],
      [
        ['a', { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3 }],
        ['x/b', null],
      ],
    )
  })

  it('is not needed where the setting holds the prices itself', () => {
    const given = (text: string) =>
      readConfig({ PLATFORM_ROOT_SECRET: 'a secret of the tests', MODEL_PRICES: text })
    const config = given('{"a": {"input": 3, "output": 15}}')
    assert.ok(config.ok && config.config.prices.has('a'))
    const wrong = given('{"a": 3}')
    assert.match(wrong.ok ? '' : wrong.problems.join(), /^MODEL_PRICES: "a" in its value must be/)
  })

  it('stops the start where it is wrong, and says what is', () => {
    const wrong: [string, RegExp][] = [
      ['{', /MODEL_PRICES: .*prices\.json is no readable JSON object/],
      ['[]', /no readable JSON object/],
      ['{"a": {"input": 3}}', /MODEL_PRICES: "a" in .* must be null or an object/],
      ['{"a": {"input": -3, "output": 1}}', /from 0 to 1000000/],
      ['{"a": {"input": "3", "output": 1}}', /each a number/],
      ['{"a": {"input": 3, "output": 1, "cache_read": 1}}', /cacheRead/],
      ['{"a": 3}', /"a"/],
    ]
    for (const [text, words] of wrong) {
      const config = read(text)
      assert.ok(!config.ok, text)
      assert.match(config.problems.join('\n'), words)
    }
    const absent = readConfig({
      PLATFORM_ROOT_SECRET: 'a secret of the tests',
      MODEL_PRICES: `${path}.not`,
    })
    assert.ok(!absent.ok && /no readable/.test(absent.problems.join()))
  })
})
