/** Files that sessions leave for people. The service publishes them at the end of a turn and never changes them. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { NotFoundError, toFile } from '@anthropic-ai/sdk'
import { uploadFile } from '../files.ts'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, logOf, newSession, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const tools = [{ type: 'agent_toolset_20260401', default_config: { enabled: true } }]
const beta = { 'vendor-beta': 'managed-agents-2026-04-01' }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`outputs on ${database}`, () => {
    let service: TestService
    before(async () => {
      service = await boot(database, { env: { FILES_LARGEST_MB: '1', FILES_WORKSPACE_MB: '8' } })
    })
    after(() => service.close())
    const run = async (session: string, command: string): Promise<string> => {
      const asked = `call bash ${JSON.stringify({ command: `cd /mnt/session/outputs && ${command}` })}`
      return textOf(only(await turn(service, session, asked), 'agent.tool_result'))
    }
    const ask = (session: string, path = '', headers: Record<string, string> = beta) =>
      service.ask<LooseBody>('GET', `/v1/sessions/${session}/outputs${path}`, undefined, headers)
    const listed = async (session: string) => (await ask(session)).body.data
    const names = async (session: string) => (await listed(session)).map(({ filename }) => filename)
    const bytes = async (session: string, name: string) => {
      const path = `/v1/sessions/${session}/outputs/${encodeURIComponent(name)}`
      return (await service.raw('GET', path, undefined, beta)).text()
    }
    const warnings = async (session: string) =>
      all(await logOf(service, session), 'session.warning').map(({ message }) => String(message))

    verifies(
      [
        'sandbox/path/outputs-published',
        'sessions/outputs',
        'sessions/output',
        'outputs/list/envelope',
        'limits/outputs-list',
      ],
      'are published at the end of a turn, listed, streamed, and files of the session',
      async () => {
        const session = await newSession(service, { tools })
        assert.deepEqual((await ask(session)).body, { data: [], has_more: false })
        await run(session, 'echo "a,b" > report.csv; printf x > "ünïcode name"; mkdir empty')
        const { data, has_more } = (await ask(session)).body
        assert.equal(has_more, false)
        assert.deepEqual(
          data.map(({ file_id: _id, created_at: _at, ...rest }) => rest),
          [
            { type: 'output', filename: 'report.csv', mime_type: 'text/csv', size_bytes: 4 },
            {
              ...{ type: 'output', filename: 'ünïcode name' },
              ...{ mime_type: 'application/octet-stream', size_bytes: 1 },
            },
          ].map((each) => ({ ...each })),
        )
        assert.equal(await bytes(session, 'report.csv'), 'a,b\n')
        assert.equal(await bytes(session, 'ünïcode name'), 'x')
        const { data: files } = await service.client.beta.files.list({ scope_id: session })
        assert.deepEqual(
          new Set(files.map(({ id }) => id)),
          new Set(data.map(({ file_id }) => file_id)),
        )
        const answer = await service.client.files.download(String(data[0]?.['file_id']))
        assert.equal(await answer.text(), 'a,b\n')
        assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; .*report\.csv/)
      },
    )

    verifies(
      ['outputs/rewritten', 'sandbox/path/outputs-published'],
      'are new files when they are written again, and what was published stays as it was',
      async () => {
        const session = await newSession(service, { tools })
        await run(session, 'echo one > a; echo same > b')
        const [first] = await listed(session)
        await run(session, 'echo two > a; echo same > b; touch b')
        const after = await listed(session)
        assert.deepEqual(
          after.map(({ filename }) => filename),
          ['a', 'b'],
        )
        assert.notEqual(after[0]?.['file_id'], first?.['file_id'])
        assert.equal(await bytes(session, 'a'), 'two\n')
        const text = async (id: unknown) => (await service.client.files.download(String(id))).text()
        assert.equal(await text(first?.['file_id']), 'one\n')
        const { data: files } = await service.client.beta.files.list({ scope_id: session })
        assert.equal(files.length, 3)
        await run(session, 'rm a; ls')
        assert.deepEqual(await names(session), ['a', 'b'])
        assert.equal(await bytes(session, 'a'), 'two\n')
        await service.client.files.delete(String(after[1]?.['file_id']))
        await run(session, 'touch b; ls')
        assert.deepEqual(await names(session), ['a'])
        assert.equal((await ask(session, '/b')).status, 404)
        await run(session, 'echo other > b')
        assert.deepEqual(await names(session), ['a', 'b'])
      },
    )

    verifies(
      ['outputs/nested', 'outputs/filename', 'errors/case/output-name'],
      'in folders are published under names of one segment, and other names are refused',
      async () => {
        const session = await newSession(service, { tools })
        await run(
          session,
          'mkdir -p charts/deep && echo 1 > charts/a.png && echo 2 > charts/deep/b && echo 3 > old~ && echo 4 > charts~1a.png',
        )
        assert.deepEqual(await names(session), [
          'charts~01a.png',
          'charts~1a.png',
          'charts~1deep~1b',
          'old~',
        ])
        assert.equal(await bytes(session, 'charts~1a.png'), '1\n')
        assert.equal(await bytes(session, 'charts~01a.png'), '4\n')
        for (const bad of ['charts%2Fa.png', '..%2Fa', '%2e%2e%2fa', 'charts%2F..%2Fold~']) {
          const { status, body } = await ask(session, `/${bad}`)
          assert.equal(status, 400, bad)
          assert.match(JSON.stringify(body), /filename/)
        }
        assert.equal((await ask(session, '/charts/a.png')).status, 404)
        assert.equal((await ask(session, '/none')).status, 404)
      },
    )

    verifies(
      ['outputs/beta-header', 'outputs/session-first', 'versions/beta-required'],
      'need the beta value of either header, after a session that the caller may see',
      async () => {
        const session = await newSession(service, { tools })
        await run(session, 'echo 1 > a')
        for (const path of ['', '/a']) {
          const refused = await ask(session, path, {})
          assert.equal(refused.status, 400)
          assert.match(JSON.stringify(refused.body), /managed-agents-2026-04-01/)
          const other = await ask(session, path, { 'vendor-beta': 'agent-memory-2026-07-22' })
          assert.equal(other.status, 400)
          const client = { 'anthropic-beta': `x, ${beta['vendor-beta']}` }
          const url = `/v1/sessions/${session}/outputs${path}`
          assert.equal((await service.raw('GET', url, undefined, client)).status, 200)
          assert.equal((await ask('sesn_none', path, {})).status, 404)
          const { key } = await service.otherWorkspace('others')
          for (const headers of [{}, beta])
            assert.equal((await ask(session, path, { ...headers, 'x-api-key': key })).status, 404)
        }
      },
    )

    verifies(
      ['outputs/regular', 'outputs/limits'],
      'are regular files within the limits; the log names all others, once, and nothing waits for them',
      async () => {
        const session = await newSession(service, { tools })
        await run(
          session,
          'echo ok > fine; ln -s /etc/passwd link; ln -s / root; mkfifo pipe; head -c 1048577 /dev/zero > large; head -c 1048576 /dev/zero > exact; printf x > "$(printf "a\\nb")"; printf x > "$(printf "bad\\377")"; ls > /dev/null',
        )
        assert.deepEqual(await names(session), ['exact', 'fine'])
        const [warning, ...others] = await warnings(session)
        assert.deepEqual(others, [])
        for (const words of [
          /link: it is no regular/,
          /root: it is no/,
          /pipe: it is no/,
          /large: it is larger than 1048576/,
          /control characters/,
          /not UTF-8/,
        ])
          assert.match(warning ?? '', words)
        await run(session, 'echo more > more')
        assert.deepEqual(await names(session), ['exact', 'fine', 'more'])
        assert.equal((await warnings(session)).length, 1)
      },
    )

    verifies(
      ['outputs/limits', 'files/upload/quota'],
      'count against the quota of the workspace, beyond which they are not published',
      async () => {
        const { data: before } = await service.client.files.list({ limit: 1000 })
        for (const { id } of before) await service.client.files.delete(id)
        const session = await newSession(service, { tools })
        const file = await toFile(Buffer.alloc(1024 * 1024), 'x')
        for (let n = 0; n < 6; n++) await service.client.files.upload({ file })
        await run(session, 'for n in 1 2 3; do head -c 1000000 /dev/urandom > $n; done')
        const published = await names(session)
        assert.equal(published.length, 2)
        const [left = ''] = ['1', '2', '3'].filter((name) => !published.includes(name))
        const told = `${left}: the files of this workspace would take`
        assert.ok((await warnings(session)).join().includes(told))
        const { data: all } = await service.client.files.list({ limit: 1000 })
        for (const { id, filename } of all)
          if (filename === 'x') await service.client.files.delete(id)
        await run(session, 'ls')
        assert.deepEqual(
          (await names(session)).map(String).toSorted((a, b) => a.localeCompare(b)),
          ['1', '2', '3'],
        )
      },
    )

    verifies(['outputs/of-session', 'files/of-session'], 'go with their session', async () => {
      const session = await newSession(service, { tools })
      await uploadFile(service, { fields: { session_id: session } })
      await run(session, 'echo 1 > a; sleep 0.2')
      const [made] = await listed(session)
      await service.client.beta.sessions.delete(session)
      assert.equal((await ask(session)).status, 404)
      await assert.rejects(
        service.client.files.retrieveMetadata(String(made?.['file_id'])),
        NotFoundError,
      )
      for (const table of ['outputs', 'files'] as const) {
        const rows = service.tenantDatabase.read.selectFrom(table).selectAll()
        assert.deepEqual(await rows.where('session_id', '=', session).execute(), [])
      }
    })
  })
}

describe('without a store of outputs', () => {
  verifies(
    'outputs/store',
    'nothing is published, and a reader is refused with the reason',
    async () => {
      const service = await boot('sqlite', { env: { STORE_BACKENDS: '{"outputs": false}' } })
      const session = await newSession(service, { tools })
      const command = { command: 'echo 1 > /mnt/session/outputs/a' }
      await turn(service, session, `call bash ${JSON.stringify(command)}`)
      for (const path of ['', '/a']) {
        const url = `/v1/sessions/${session}/outputs${path}`
        const { status, body } = await service.ask<LooseBody>('GET', url, undefined, beta)
        assert.equal(status, 400)
        assert.match(JSON.stringify(body), /keeps no outputs.*STORE_BACKENDS/)
        assert.equal(
          (await service.raw('GET', url.replace(session, 'sesn_0'), undefined, beta)).status,
          404,
        )
      }
      assert.deepEqual((await service.client.files.list()).data, [])
      await service.close()
    },
  )
})
