/** What a session has changed in its working folder, by turn and as a whole. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe } from 'node:test'
import type { ChangedTurnShown, FolderChangesShown } from '@steward/protocol/folder-changes.ts'
import type { Session } from '@steward/protocol/sessions.ts'
import { connectTo } from '@steward/server/engine/egress/fixture.ts'
import type { GitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import { gitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import { uploadFile } from '../files.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { newSession, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const tools = [{ type: 'agent_toolset_20260401' }] as const

const outsideTo = ({ server }: GitServer) => ({
  connect: connectTo(server),
  dial: async () => connect({ port: server.port, host: '127.0.0.1' }),
})

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`changes of working folders on ${database}`, () => {
    let service: TestService
    let git: GitServer
    before(async () => {
      git = await gitServer()
      const env = { CHECKPOINTS: 'idle', CHECKPOINT_HISTORY: '2' }
      service = await boot(database, { env, overrides: { nameOverride: outsideTo(git) } })
    })
    after(async () => {
      await service.close()
      await git[Symbol.asyncDispose]()
    })

    const run = (session: string, command: string) => turn(service, session, `run: ${command}`)
    const seqOf = (event: SeenEvent | undefined) => String(event?.['seq'])
    const spanOf = (seen: readonly SeenEvent[]) => ({
      from: seqOf(seen[0]),
      to: seqOf(seen.at(-1)),
    })
    async function changes(
      session: string,
      asked: Record<string, string> = {},
    ): Promise<FolderChangesShown> {
      const query = new URLSearchParams(asked).toString()
      const path = `/v1/ext/sessions/${session}/changes?${query}`
      const { status, body } = await service.ask<FolderChangesShown>('GET', path)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }
    const shortly = ({ files }: FolderChangesShown) =>
      files.map(({ path, change, previous_path: from }) =>
        [change, path.replace('/workspace/', ''), from?.replace('/workspace/', '')]
          .filter(Boolean)
          .join(' '),
      )
    const moveAway = (session: string) =>
      service.tenantDatabase.write(async (tx) => {
        const rows = tx.updateTable('checkpoints').set({ folder: 'another-machine' })
        await rows.where('session_id', '=', session).execute()
      })

    verifies(
      ['changes/net', 'changes/points', 'changes/files'],
      'are listed for each turn and for the whole session, live and from checkpoints alike',
      async () => {
        const session = await newSession(service, { tools })
        assert.deepEqual((await changes(session)).files, [])
        const one = await run(
          session,
          'mkdir src; seq 1 20 > src/a.txt; echo b > b; echo same > old; printf "\\0bin" > image; seq 1 99999 > long; ln -s /etc link',
        )
        const talk = await turn(service, session, 'say: nothing is changed')
        const two = await run(
          session,
          'sed -i s/^7$/seven/ src/a.txt; rm b; mv old src/new; echo more >> image; printf tail > "src/odd \\"name"',
        )
        const first = await changes(session, spanOf(one))
        assert.equal(first.state, 'known')
        assert.deepEqual([first.from?.source, first.to?.source], ['empty', 'checkpoint'])
        assert.deepEqual(
          shortly(first),
          ['b', 'image', 'link', 'long', 'old', 'src/a.txt'].map((path) => `added ${path}`),
        )
        const reasons = new Map(first.files.map(({ path, diff_reason: why }) => [path, why]))
        assert.equal(reasons.get('/workspace/image'), 'binary')
        assert.equal(reasons.get('/workspace/long'), 'too_long')
        assert.equal(reasons.get('/workspace/link'), 'not_a_file')
        assert.deepEqual((await changes(session, spanOf(talk))).files, [])
        const second = await changes(session, spanOf(two))
        assert.deepEqual(shortly(second), [
          'removed b',
          'changed image',
          'changed src/a.txt',
          'renamed src/new old',
          'added src/odd "name',
        ])
        const edited = second.files[2]
        assert.equal(
          edited?.diff,
          `--- a/workspace/src/a.txt\n+++ b/workspace/src/a.txt\n@@ -4,7 +4,7 @@\n 4\n 5\n 6\n-7\n+seven\n 8\n 9\n 10\n`,
        )
        assert.deepEqual([edited.size, edited.previous_size], [55, 51])
        assert.match(
          second.files[4]?.diff ?? '',
          /^--- \/dev\/null\n\+\+\+ "b\/workspace\/src\/odd \\"name"/,
        )
        assert.deepEqual(second.totals, {
          ...{ added: 1, changed: 2, removed: 1, renamed: 1 },
          ...{ lines_added: 2, lines_removed: 2, lines_are_complete: true },
        })
        const live = await changes(session)
        assert.equal(live.to?.source, 'live')
        await moveAway(session)
        const kept = await changes(session)
        assert.equal(kept.to?.source, 'checkpoint')
        assert.deepEqual(kept.files, live.files)
        assert.deepEqual(shortly(kept), [
          ...['added image', 'added link', 'added long', 'added src/a.txt', 'added src/new'],
          'added src/odd "name',
        ])
        assert.equal(kept.totals.lines_are_complete, false)
        const part = await changes(session, { path: 'src/a.txt' })
        assert.deepEqual(shortly(part), ['added src/a.txt'])
        assert.equal(part.totals.lines_added, 20)
      },
    )

    verifies(
      ['changes/unknown', 'changes/fork', 'changes/turns'],
      'are unknown where no checkpoint is kept, and a fork begins with its own',
      async () => {
        const session = await newSession(service, { tools })
        const turns: SeenEvent[][] = []
        for (const name of ['a', 'b', 'c', 'd', 'e'])
          turns.push(await run(session, `echo ${name} > ${name}`))
        const [, second = [], , , last = []] = turns
        const gone = await changes(session, spanOf(second))
        assert.deepEqual([gone.state, gone.from, gone.files], ['unknown', null, []])
        assert.match(gone.reason ?? '', /no checkpoint is kept .* CHECKPOINT_HISTORY/)
        assert.deepEqual(shortly(await changes(session, spanOf(last))), ['added e'])
        await turn(service, session, 'say: nothing')
        const turnsOf = async (id: string, asked = '') =>
          (
            await service.ask<{ data: ChangedTurnShown[]; next_page: string | null }>(
              'GET',
              `/v1/ext/sessions/${id}/changes/turns${asked}`,
            )
          ).body
        const { data: listed } = await turnsOf(session)
        assert.deepEqual(
          listed.map(({ state }) => state),
          ['unchanged', 'known', 'known', 'unknown', 'unknown', 'unknown'],
        )
        for (const { from, to, state } of listed) {
          const asked = { from: String(from), to: String(to) }
          const { state: shown, files } = await changes(session, asked)
          assert.equal(shown, state === 'unknown' ? 'unknown' : 'known')
          assert.equal(files.length, state === 'known' ? 1 : 0)
        }
        const page = await turnsOf(session, '?limit=4')
        const rest = await turnsOf(session, `?limit=4&page=${page.next_page}`)
        assert.deepEqual([...page.data, ...rest.data], listed)
        assert.equal(rest.next_page, null)
        const middle = second.find(({ type }) => type === 'agent.tool_result')
        assert.equal((await changes(session, { to: seqOf(middle) })).state, 'unknown')
        const { body: fork } = await service.ask<Session>(
          'POST',
          `/v1/ext/sessions/${session}/fork`,
          { at_seq: Number(seqOf(turns[3]?.at(-1))) },
        )
        assert.deepEqual((await changes(fork.id)).files, [])
        await run(fork.id, 'echo f > f; rm a')
        const own = await changes(fork.id)
        assert.equal(own.from?.source, 'checkpoint')
        assert.deepEqual(shortly(own), ['removed a', 'added f'])
        assert.equal((await turnsOf(fork.id)).data[0]?.state, 'known')
      },
    )

    verifies(
      'changes/bounded',
      'omit mounted files, and the content of a clone before its first checkpoint',
      async () => {
        await git.create('/one/public', { 'README.md': 'hello\n', 'src/a': 'a\n' })
        const { id: file_id } = await uploadFile(service, { name: 'in.csv', content: '1,2' })
        const resources = [
          { type: 'github_repository', url: 'https://api.example/one/public' },
          { type: 'file', file_id, mount_path: '/workspace/in.csv' },
        ]
        const session = await newSession(service, { tools }, { resources })
        const one = await run(session, 'cat public/README.md in.csv; echo own > own')
        assert.match(JSON.stringify(one), /hello/)
        const first = await changes(session)
        assert.deepEqual(shortly(first), ['added own'])
        const [clone, records] = first.left_out
        assert.equal(clone?.path, '/workspace/public')
        assert.match(
          clone.reason,
          /cloned here, and its files are compared with the checkpoint of 20/,
        )
        assert.equal(records?.path, '/workspace/public/.git')
        await run(session, 'cd public; echo more >> README.md; rm src/a; git add .')
        assert.deepEqual(shortly(await changes(session)), [
          'added own',
          'changed public/README.md',
          'removed public/src/a',
        ])
      },
    )

    verifies(
      'changes/points',
      'of times that never were, or that are turned around, are refused',
      async () => {
        const session = await newSession(service, { tools })
        const seen = await turn(service, session, 'say: x')
        const last = Number(seqOf(seen.at(-1)))
        for (const [asked, message] of [
          [`from=${last + 1}`, /^from: the log of session sesn_\w+ ends with event \d+/],
          [`to=${last + 1}`, /^to: the log/],
          [`from=${last}&to=1`, /^from: must not lie behind to/],
          ['from=now', /^from: /],
          ['path=../x', /^path: /],
        ] as const) {
          const path = `/v1/ext/sessions/${session}/changes?${asked}`
          const { status, body } = await service.ask<{ error: { message: string } }>('GET', path)
          assert.equal(status, 400, asked)
          assert.match(body.error.message, message)
        }
      },
    )

    verifies(
      'changes/bounded',
      'of thousands of files, and of texts that are hard to compare, hold nobody',
      async () => {
        const session = await newSession(service, { tools })
        await run(
          session,
          [
            'mkdir -p .git/objects lib/many; echo x > .git/HEAD; for f in $(seq 1 3000); do echo $f > lib/many/$f; done',
            'for f in 1 2 3; do seq 1 60000 | sort -R | head -c 250000 > hard$f; done; truncate -s 900M holes; mkfifo pipe',
          ].join('; '),
        )
        const one = await run(
          session,
          'for f in 1 2 3; do seq 1 60000 | sort -R | head -c 250000 > hard$f; done; echo y > .git/HEAD; rm -r lib; echo end >> holes',
        )
        const began = performance.now()
        const { files, totals, left_out } = await changes(session, spanOf(one))
        assert.ok(performance.now() - began < 20_000)
        assert.equal(files.length, 1_000)
        assert.deepEqual([totals.removed, totals.changed], [3_000, 4])
        assert.equal(totals.lines_are_complete, false)
        assert.equal(files.find(({ path }) => path.endsWith('hard1'))?.diff_reason, 'too_long')
        assert.deepEqual(
          left_out.map(({ path, files: count }) => [path, count]),
          [
            ['/workspace/.git', 0],
            ['/workspace', 2_004],
          ],
        )
        const live = await changes(session)
        assert.equal(live.to?.source, 'live')
        assert.deepEqual(
          live.files.map(({ path, kind }) => [path.replace('/workspace/', ''), kind]),
          [
            ['hard1', 'file'],
            ['hard2', 'file'],
            ['hard3', 'file'],
            ['holes', 'file'],
            ['pipe', 'other'],
          ],
        )
      },
    )
  })
}
