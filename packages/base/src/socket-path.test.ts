import assert from 'node:assert/strict'
import { once } from 'node:events'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { socketPath } from './socket-path.ts'

it('listens and dials at a path of any length, and closes its folder once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sockets-'))
  for (const name of ['short', 'a-long-name'.repeat(12)]) {
    const own = join(folder, name)
    mkdirSync(own)
    const [near, far] = [1, 2].map(() => socketPath(join(own, 'a.sock')))
    assert.ok(near && far)
    const server = createServer((socket) => socket.end('here')).listen(near.path)
    await once(server, 'listening')
    const [said] = (await once(connect(far.path), 'data')) as [Buffer]
    assert.equal(said.toString(), 'here')
    await new Promise((resolve) => server.close(resolve))
    near.forget()
    far.forget()
    const other = openSync(own, 'r')
    near.forget()
    closeSync(other)
  }
  rmSync(folder, { recursive: true })
})
