/** The program of docs/openai.md, as it stands there, against a running service and the offline model. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runProgram } from './program.ts'
import { boot } from './service.ts'

const root = join(import.meta.dirname, '..')

describe('the page about the openai client', () => {
  it('has a program with which two clients drive one session', async () => {
    const source = await readFile(join(root, 'docs/openai.md'), 'utf8')
    const [, program = ''] = /```js\n([^]*?)```/.exec(source) ?? []
    const [, expected = ''] = /```\n(openai asked[^]*?)```/.exec(source) ?? []
    const service = await boot('sqlite')
    try {
      const { code, said } = await runProgram(service, program)
      assert.equal(code, 0, said)
      assert.equal(said, expected)
    } finally {
      await service.close()
    }
  })
})
