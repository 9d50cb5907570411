/** The working folder of a session, as people look at it: live, and from its checkpoint. */
import assert from 'node:assert/strict'
import { readdir, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { newSession, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const tools = [{ type: 'agent_toolset_20260401' }] as const

type Entry = {
  name: string
  is_exact: boolean
  kind: string
  size: number | null
  modified_at: string | null
  target: string | null
}
type Listed = {
  data: Entry[]
  next_page: string | null
  source: string
  at: string | null
  reason: string | null
  path: string
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`working folders on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database, { env: { CHECKPOINTS: 'idle' } })))
    after(() => service.close())

    const run = async (session: string, command: string): Promise<string> =>
      textOf(only(await turn(service, session, `run: ${command}`), 'agent.tool_result'))
    const query = (asked: Record<string, string>): string =>
      `?${new URLSearchParams(asked).toString()}`
    const ask = (session: string, asked: Record<string, string> = {}) =>
      service.ask<Listed>('GET', `/v1/ext/sessions/${session}/folder${query(asked)}`)
    async function list(session: string, asked: Record<string, string> = {}): Promise<Listed> {
      const { status, body } = await ask(session, asked)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }
    const content = (session: string, path: string, headers: Record<string, string> = {}) =>
      service.raw(
        'GET',
        `/v1/ext/sessions/${session}/folder/content${query({ path })}`,
        undefined,
        headers,
      )
    const names = ({ data }: Listed) => data.map(({ name }) => name)
    /** The session goes on elsewhere, as far as this service knows. */
    const moveAway = (session: string) =>
      service.tenantDatabase.write(async (tx) => {
        const rows = tx.updateTable('checkpoints').set({ folder: 'another-machine' })
        await rows.where('session_id', '=', session).execute()
      })

    verifies(
      ['folder/list', 'folder/list/order', 'folder/source', 'folder/content'],
      'a folder and its files are read live, and then from the checkpoint alike',
      async () => {
        const session = await newSession(service, { tools })
        const unused = await list(session)
        assert.deepEqual([unused.data, unused.source, unused.at], [[], 'none', null])
        assert.match(unused.reason ?? '', /no tool of this session has used a sandbox/)
        await run(
          session,
          'mkdir -p src/deep empty; echo one > src/a.ts; printf "%s" long > b.txt; ln -s /etc/passwd link; : > src/deep/none',
        )
        await run(session, 'echo two >> src/a.ts; rm b.txt; echo new > c.txt; cp c.txt src/deep/c')
        for (const source of ['live', 'checkpoint']) {
          if (source === 'checkpoint') await moveAway(session)
          const whole = await list(session)
          assert.deepEqual(
            whole.data.map(({ name, kind, size, target }) => [name, kind, size, target]),
            [
              ['empty', 'folder', null, null],
              ['src', 'folder', null, null],
              ['c.txt', 'file', 4, null],
              ['link', 'link', null, '/etc/passwd'],
            ],
          )
          assert.equal(whole.source, source)
          assert.equal(whole.path, '/workspace')
          assert.ok(Date.parse(whole.at ?? '') > Date.now() - 60_000)
          assert.ok(whole.data.every(({ modified_at }) => modified_at?.startsWith('20')))
          assert.deepEqual(names(await list(session, { path: '/workspace/src/' })), [
            'deep',
            'a.ts',
          ])
          assert.deepEqual(names(await list(session, { path: 'empty' })), [])
          const first = await list(session, { limit: '3' })
          const { next_page: page } = first
          const rest = await list(session, { limit: '3', page: page ?? '' })
          assert.deepEqual(names(first).concat(names(rest)), names(whole))
          assert.equal(rest.next_page, null)
          const file = await content(session, 'src/a.ts')
          assert.equal(await file.text(), 'one\ntwo\n')
          assert.equal(file.headers.get('steward-folder-source'), source)
          assert.match(file.headers.get('content-security-policy') ?? '', /sandbox/)
          assert.match(file.headers.get('content-disposition') ?? '', /^attachment; .*a\.ts/)
          const part = await content(session, 'src/a.ts', { range: 'bytes=4-6' })
          assert.equal(part.status, 206)
          assert.equal(part.headers.get('content-range'), 'bytes 4-6/8')
          assert.equal(await part.text(), 'two')
          assert.equal((await content(session, 'src/a.ts', { range: 'bytes=9-' })).status, 416)
          assert.equal(await (await content(session, 'src/deep/none')).text(), '')
          for (const absent of ['b.txt', 'src', 'link', 'link/x', 'no/where'])
            assert.equal((await content(session, absent)).status, 404, `${source} ${absent}`)
          assert.equal((await ask(session, { path: 'c.txt' })).status, 404)
        }
      },
    )

    verifies(
      ['folder/confined', 'folder/bounded', 'folder/content/largest'],
      'links that a hostile session makes lead nowhere, and hold nobody',
      async () => {
        const session = await newSession(service, { tools })
        await run(
          session,
          [
            'ln -s / host; ln -s .. up; ln -s ../../outputs beside; mkfifo pipe; truncate -s 200M holes',
            'mkdir in many; echo mine > in/f; mkdir -p $(printf "d/%.0s" $(seq 1 300))',
            'touch -- "$(printf "bad\\377")" "$(printf "line\\nbreak\\033[2J")" "-rf" "<b>"',
            'cd many; seq 1 2500 | xargs touch; cd ..; touch -d @99999999999 late',
          ].join('; '),
        )
        for (const source of ['live', 'checkpoint']) {
          if (source === 'checkpoint') await moveAway(session)
          const { data } = await list(session)
          const kinds = new Map(data.map(({ name, kind }) => [name, kind]))
          assert.equal(kinds.get('pipe'), 'other')
          assert.equal(kinds.get('host'), 'link')
          assert.equal(kinds.get('line\nbreak\u001b[2J'), 'file')
          const bad = data.find(({ is_exact }) => !is_exact)
          assert.equal(bad?.name, 'bad\ufffd')
          for (const path of ['host', 'host/etc', 'up', 'up/outputs', 'beside', 'pipe', 'in/f/x']) {
            assert.equal((await ask(session, { path })).status, 404, `${source} ${path}`)
            assert.equal((await content(session, path)).status, 404, `${source} ${path}`)
          }
          for (const path of ['..', 'in/../..', '/etc', '/workspace/../x', 'a\0b']) {
            assert.equal((await ask(session, { path })).status, 400, path)
            assert.equal((await content(session, path)).status, 400, path)
          }
          const long = await content(session, 'holes')
          assert.equal(long.status, 413)
          assert.match(await long.text(), /send a range/)
          const part = await content(session, 'holes', { range: 'bytes=209715190-' })
          assert.deepEqual(Buffer.from(await part.arrayBuffer()), Buffer.alloc(10))
          const deep = await list(session, { path: 'd/'.repeat(300) })
          assert.deepEqual(deep.data, [])
          const all: string[] = []
          for (let page: string | null = ''; page !== null;) {
            const asked: Record<string, string> = { path: 'many', limit: '1000' }
            if (page !== '') asked['page'] = page
            const listed: Listed = await list(session, asked)
            all.push(...names(listed))
            page = listed.next_page
          }
          assert.equal(new Set(all).size, 2_500)
        }
      },
    )

    verifies('folder/source', 'a checkpoint that is corrupt is no empty folder', async () => {
      const session = await newSession(service, { tools })
      await run(session, 'echo x > x')
      await moveAway(session)
      const blobs = join(service.dataDir, 'blobs')
      for (const path of await readdir(blobs, { recursive: true }))
        if (path.includes(session) && path.includes('chkpt_'))
          await writeFile(join(blobs, path), 'rotten')
      for (const { status, body } of [await ask(session), await ask(session, { path: 'x' })]) {
        assert.equal(status, 502)
        assert.match(JSON.stringify(body), /the checkpoint of this session cannot be read/)
      }
    })

    verifies(
      'folder/confined',
      'a folder that becomes a link as it is read leads nowhere',
      async () => {
        const session = await newSession(service, { tools })
        await run(session, 'mkdir in; echo mine > in/f')
        const folder = join(service.dataDir, 'sandboxes', session)
        await writeFile(join(folder, 'secret'), 'of the host')
        const [link, path] = [join(folder, 'workspace', 'swapped'), 'swapped/secret']
        await symlink(folder, link)
        assert.equal((await content(session, path)).status, 404)
        assert.equal((await ask(session, { path: 'swapped' })).status, 404)
        await unlink(link)
      },
    )
  })
}
