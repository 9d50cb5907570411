import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { adminKey, boot, rootSecret } from '../service.ts'
import { all, fresh, newSession, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const tools = [{ type: 'agent_toolset_20260401' }]

async function uploadAnswer({ base }: TestService) {
  const body = new FormData()
  body.set('file', new Blob(['x']), 'a')
  const headers = { 'x-api-key': adminKey }
  const answer = await fetch(`${base}/v1/files`, { method: 'POST', headers, body })
  return { status: answer.status, headers: answer.headers, body: await answer.json() }
}

describe('the sandbox', () => {
  let service: TestService
  before(async () => void (service = await boot('sqlite')))
  after(() => service.close())

  const session = (environment: object = {}) =>
    service
      .ask('POST', '/v1/environments', { name: fresh('env'), ...environment })
      .then(({ body }) => newSession(service, { tools }, { environment_id: body.id }))

  async function run(id: string, ...commands: string[]): Promise<string[]> {
    const lines = commands.map((command) => `call bash ${JSON.stringify({ command })}`)
    const seen = await turn(service, id, lines.join('\n'))
    return all(seen, 'agent.tool_result').map(textOf)
  }

  verifies('sandbox/no-network', 'there is no network but for its own loopback', async () => {
    const [interfaces, dial] = await run(
      await session(),
      'cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d " "',
      `exec 3<>/dev/tcp/127.0.0.1/${new URL(service.base).port}; echo $?`,
    )
    assert.match(interfaces ?? '', /^(lo\n)?$/)
    assert.match(dial ?? '', /refused|unreachable/i)
  })

  verifies(
    ['sandbox/nothing-of-the-host', 'secrets/model-keys-outside'],
    "nothing of the server is in sight: variables, processes, data, or the machine's name",
    async () => {
      const [variables, processes, data, files, name] = await run(
        await session(),
        'env; cat /proc/1/environ | tr "\\0" "\\n"',
        'cat /proc/[0-9]*/cmdline | tr "\\0" " "',
        `ls ${service.dataDir} 2>&1; find / -name steward.db 2>/dev/null; true`,
        'ls -A /root /home 2>&1; true',
        'hostname 2>/dev/null || cat /proc/sys/kernel/hostname',
      )
      const seen = [variables, processes, data, files].join('\n')
      for (const secret of [adminKey, rootSecret, 'PLATFORM_', 'STEWARD_TEST', 'steward.db\n']) {
        assert.ok(!seen.includes(secret), secret)
      }
      assert.doesNotMatch(processes ?? '', /node|postgres/)
      assert.notEqual(name?.trim(), hostname())
    },
  )

  verifies(
    ['sandbox/path/outputs-writable', 'sandbox/path/workspace'],
    'the outputs folder can be written, the system cannot',
    async () => {
      const [written, system] = await run(
        await session(),
        'echo result > /mnt/session/outputs/a.txt && cat /mnt/session/outputs/a.txt && pwd',
        'touch /usr/evil 2>&1; echo $?',
      )
      assert.equal(written, 'result\n/workspace\n')
      assert.match(system ?? '', /1\n$/)
    },
  )

  verifies(
    'sandbox/path/user',
    'a folder besides the working folder can be written by commands and by file tools',
    async () => {
      const id = await session()
      const [made] = await run(id, 'mkdir /mnt/user/deep && echo own > /mnt/user/deep/a && id -u')
      assert.match(made ?? '', /^1000\n$/)
      const input = { file_path: '/mnt/user/deep/a', old_string: 'own', new_string: 'mine' }
      const seen = await turn(service, id, `call edit ${JSON.stringify(input)}`)
      assert.equal(only(seen, 'agent.tool_result')['is_error'], false)
      assert.deepEqual(await run(id, 'cat /mnt/user/deep/a'), ['mine\n'])
    },
  )

  verifies(
    ['sandbox/lazy', 'sessions/create/no-sandbox'],
    'a turn without a tool starts no sandbox',
    async () => {
      const id = await session()
      await turn(service, id, 'say: no tool')
      const folder = join(service.dataDir, 'sandboxes', id)
      assert.equal(existsSync(folder), false)
      await run(id, 'true')
      assert.equal(existsSync(folder), true)
    },
  )

  verifies(
    ['service/sandbox/per-session'],
    'two sessions share neither files nor processes',
    async () => {
      const [one, other] = [await session(), await session()]
      await run(one, 'echo mine > mine.txt; echo mine > /tmp/mine.txt; sleep 300 & true')
      const [files, processes] = await run(
        other,
        'ls /workspace /tmp',
        'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c "[s]leep 300"; true',
      )
      assert.doesNotMatch(files ?? '', /mine/)
      assert.equal(processes, '0\n')
    },
  )

  verifies(
    ['environments/env/effect', 'environments/update/new-sandboxes', 'environments/field/env'],
    "the environment's variables are set, and a change reaches only sandboxes started later",
    async () => {
      const made = await service.ask('POST', '/v1/environments', {
        name: fresh('env'),
        env: { COLOUR: 'red' },
      })
      const setup = { environment_id: made.body.id }
      const first = await newSession(service, { tools }, setup)
      assert.deepEqual(await run(first, 'echo $COLOUR'), ['red\n'])
      await service.ask('PATCH', `/v1/environments/${made.body.id}`, { env: { COLOUR: 'blue' } })
      assert.deepEqual(await run(first, 'echo $COLOUR'), ['red\n'])
      const second = await newSession(service, { tools }, setup)
      assert.deepEqual(await run(second, 'echo $COLOUR'), ['blue\n'])
    },
  )

  verifies(
    'sandbox/bounded',
    'a command that exceeds the bounds fails inside, and the session goes on',
    async () => {
      const small = await boot('sqlite', {
        env: { SANDBOX_MEMORY_MB: '128', SANDBOX_PROCESSES: '32' },
      })
      try {
        const id = await newSession(small, { tools })
        const commands = [
          'head -c 400000000 /dev/zero | tail -c 390000000 | wc -c',
          'for i in $(seq 100); do sleep 20 & done 2>&1; true',
          'dd if=/dev/zero of=/tmp/big bs=1M count=400 2>&1; rm -f /tmp/big',
          'echo alive',
        ]
        const lines = commands.map(
          (command) => `call bash ${JSON.stringify({ command, timeout_ms: 3000 })}`,
        )
        const seen = await turn(small, id, lines.join('\n'))
        const found = all(seen, 'agent.tool_result').map(textOf)
        assert.doesNotMatch(found[0] ?? '', /^390000000/)
        assert.match(found[1] ?? '', /Resource temporarily unavailable/)
        assert.match(found[2] ?? '', /No space left/)
        const last = only(await turn(small, id, 'run: echo alive'), 'agent.tool_result')
        assert.equal(textOf(last), 'alive\n')
      } finally {
        await small.close()
      }
    },
  )

  verifies(
    ['sandbox/disk/floor', 'files/upload/no-room', 'errors/case/disk-full'],
    'where too little of the disk is free, nothing is uploaded and no sandbox starts',
    async () => {
      const full = await boot('sqlite', { env: { STORE_FREE_MB: '1000000000' } })
      try {
        const { status, headers, body } = await uploadAnswer(full)
        assert.deepEqual([status, headers.get('retry-after')], [507, '10'])
        assert.match(JSON.stringify(body), /no space left/)
        const seen = await turn(full, await newSession(full, { tools }), 'run: echo alive')
        const result = only(seen, 'agent.tool_result')
        assert.match(textOf(result), /did not start.*less than 1000000000 MB left/)
        assert.equal(all(seen, 'session.status_idle').length, 1)
      } finally {
        await full.close()
      }
    },
  )
})
