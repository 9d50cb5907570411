/** The program of docs/change-an-agent.md, as it stands there, against a running service and the offline model. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { adminKey, boot } from './service.ts'

const page = join(import.meta.dirname, '..', 'docs/change-an-agent.md')

describe('the page about changes of agents', () => {
  it('has a program that names the planted regression', async () => {
    const source = await readFile(page, 'utf8')
    const [, program = ''] = /```js\n([^]*?)```/.exec(source) ?? []
    const [, expected = ''] = /```\n(version 1[^]*?)```/.exec(source) ?? []
    const service = await boot('sqlite')
    try {
      const child = spawn(process.execPath, ['--input-type=module', '-'], {
        env: { PATH: process.env['PATH'], STEWARD_URL: service.base, KEY: adminKey },
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      child.stdin.end(program)
      const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
      assert.equal(child.exitCode, 1, said)
      assert.ok(said.startsWith(expected), said)
    } finally {
      await service.close()
    }
  })
})
