/** Runs the program of docs/change-an-agent.md, unchanged, against a service and the offline model. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runProgram } from './program.ts'
import { boot } from './service.ts'

const page = join(import.meta.dirname, '..', 'docs/change-an-agent.md')

describe('the page about changes of agents', () => {
  it('has a program that names the planted regression', async () => {
    const source = await readFile(page, 'utf8')
    const [, program = ''] = /```js\n([^]*?)```/.exec(source) ?? []
    const [, expected = ''] = /```\n(version 1[^]*?)```/.exec(source) ?? []
    const service = await boot('sqlite')
    try {
      const { code, said } = await runProgram(service, program)
      assert.equal(code, 1, said)
      assert.ok(said.startsWith(expected), said)
    } finally {
      await service.close()
    }
  })
})
