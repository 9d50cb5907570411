/** What the running command of a call writes, told to those who ask for it. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import type { StreamReader } from '../reader.ts'
import { openStream } from '../reader.ts'
import type { TestService } from '../service.ts'
import { besideService, boot, scenarioDatabases } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { all, fresh, logOf, newSession, only, post, textOf } from '../turns.ts'
import { verifies } from '../verifies.ts'

const tools = [{ type: 'agent_toolset_20260401' as const }]
const chunk = 'agent.tool_use_output_chunk'

/** Part of a command: waits until this test makes the file. */
const waitFor = (file: string): string => `until [ -e ${file} ]; do sleep 0.05; done`
const bash = (command: string): string => `call bash ${JSON.stringify({ command })}`

const chunksIn = ({ frames }: StreamReader): SeenEvent[] =>
  frames.map(({ data }) => data).filter(({ type }) => type === chunk)
const joined = (chunks: readonly SeenEvent[]): string =>
  chunks.map(({ delta }) => String(delta)).join('')
const isIdle = ({ type }: SeenEvent): boolean => type === 'session.status_idle'
/** True once the reader has this text of a command. */
const hasText = (reader: StreamReader, text: string) => () => joined(chunksIn(reader)) === text

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the output of a running command on ${database}`, () => {
    let service: TestService
    let url: string | undefined
    before(async () => {
      url = database === 'postgres' ? await newPostgresUrl() : undefined
      service = await boot(database, { env: url === undefined ? {} : { DATABASE_URL: url } })
    })
    after(() => service.close())

    const streamOf = (session: string, query = '') =>
      `/v1/sessions/${session}/events/stream${query}`
    const listen = (session: string, at = service) =>
      openStream(at, streamOf(session, '?include=chunks'))
    /** Makes a file that a command waits for. */
    const make = (session: string, file: string) =>
      writeFile(join(service.dataDir, 'sandboxes', session, 'workspace', file), '')

    verifies(
      [
        'events/ext/tool-output-chunks',
        'events/ext/tool-output-offsets',
        'events/ext/tool-output-wish',
      ],
      'it comes while the command runs, on streams that ask for chunks and on no other',
      async () => {
        const session = await newSession(service, { tools })
        await using wished = await listen(session)
        await using plain = await openStream(service, streamOf(session))
        const previews = '?event_deltas[]=agent.message&event_deltas[]=agent.thinking'
        await using deltas = await openStream(service, streamOf(session, previews))
        await using workspace = await openStream(
          service,
          `/v1/ext/stream?workspace=false&sessions=${session}&chunks=true`,
        )
        await using quiet = await openStream(
          service,
          `/v1/ext/stream?workspace=false&sessions=${session}`,
        )
        await Promise.all([workspace, quiet].map((each) => each.untilType('stream.opened')))
        const command = `for i in 1 2 3; do echo out $i; echo err $i >&2; ${waitFor('$i')}; done`
        await post(service, session, bash(command))
        let text = ''
        for (const step of ['1', '2', '3']) {
          text += `out ${step}\nerr ${step}\n`
          for (const reader of [wished, workspace]) await reader.until(hasText(reader, text))
          await make(session, step)
        }
        const readers = [wished, plain, deltas, workspace, quiet]
        for (const each of readers) await each.until(isIdle)
        for (const each of [plain, deltas, quiet]) assert.deepEqual(chunksIn(each), [])
        const seen = wished.frames.map(({ data }) => data)
        const call = only(seen, 'agent.tool_use')
        assert.equal(textOf(only(seen, 'agent.tool_result')), text)
        let end = 0
        for (const each of chunksIn(wished)) {
          assert.equal(each['tool_use_id'], call.id)
          assert.equal(each['session_id'], session)
          assert.equal(each['offset'], end)
          end = Number(each['end_offset'])
          assert.ok(Number(each['total_bytes']) >= end && Number(each['quiet_ms']) >= 0)
        }
        assert.equal(end, text.length)
        const types = seen.map(({ type }) => type)
        assert.ok(types.lastIndexOf(chunk) < types.indexOf('agent.tool_result'))
        assert.ok((await logOf(service, session)).every(({ type }) => type !== chunk))
      },
    )

    verifies(
      ['events/ext/tool-output-late', 'events/ext/tool-output-quiet'],
      'a later reader gets its end, also while the command is silent',
      async () => {
        const session = await newSession(service, { tools })
        await using first = await listen(session)
        await post(service, session, bash(`seq 1 2000; ${waitFor('go')}`))
        const last = (reader: StreamReader) => chunksIn(reader).at(-1)
        const isWhole = ({ type, end_offset, total_bytes }: SeenEvent) =>
          type === chunk && end_offset === total_bytes && Number(total_bytes) > 8_000
        await first.until(isWhole)
        await using late = await listen(session)
        await late.until(isWhole)
        const [piece] = chunksIn(late)
        assert.match(String(piece?.['delta']), /^\d+\n[^]*\n1999\n2000\n$/)
        assert.ok(Number(piece?.['offset']) > 4_000)
        const known = last(first)?.['end_offset']
        await first.until(({ type, quiet_ms }) => type === chunk && Number(quiet_ms) > 2_000)
        const silent = last(first)
        assert.deepEqual([silent?.['delta'], silent?.['offset']], ['', known])
        await make(session, 'go')
        await late.until(isIdle)
      },
    )

    verifies(
      ['events/ext/tool-output-bounds'],
      'of a flood it sends few and short pieces, and names the offsets of the rest',
      async () => {
        const session = await newSession(service, { tools })
        await using reader = await listen(session)
        const begun = performance.now()
        await post(
          service,
          session,
          bash(`yes "$(printf '\\033[31m<b>&amp;\\033[0m')" & ${waitFor('go')}; kill $!`),
        )
        await reader.until(() => chunksIn(reader).length >= 4)
        await make(session, 'go')
        await reader.until(isIdle)
        const chunks = chunksIn(reader)
        assert.ok(chunks.length <= (4 * (performance.now() - begun)) / 1_000 + 1)
        let [end, skipped] = [0, 0]
        for (const { delta, offset, end_offset } of chunks) {
          assert.ok(String(delta).length <= 4_096)
          assert.match(String(delta), /^[<b>&amp;\n]*$/)
          assert.ok(Number(offset) >= end)
          skipped += Number(offset) - end
          end = Number(end_offset)
        }
        assert.ok(skipped > 100_000)
      },
    )

    verifies(
      ['events/ext/tool-output-masked'],
      'the secret of a command is in no piece, even where it is cut in two',
      async () => {
        const secret = `canary-${crypto.randomUUID()}`
        const auth = {
          ...{ type: 'command_secret', env_var: 'A_TOKEN', token: secret },
          command_prefixes: ['node -e'],
        }
        const vault = await service.ask('POST', '/v1/vaults', {
          name: fresh('vault'),
          credentials: [{ auth }],
        })
        const session = await newSession(service, { tools }, { vault_ids: [vault.body.id] })
        await using reader = await listen(session)
        const program = [
          'const { existsSync, writeSync } = require("fs"), t = process.env.A_TOKEN',
          'const until = (file) => { while (!existsSync(file)); }',
          'writeSync(1, "before\\n" + t.slice(0, 20)); until("one")',
          'writeSync(1, t.slice(20) + "\\n"); until("two")',
          'writeSync(1, Buffer.from("user:" + t).toString("base64") + "\\nafter\\n"); until("three")',
        ].join('; ')
        await post(service, session, bash(`node -e '${program}'`))
        await reader.until(({ type, total_bytes }) => type === chunk && total_bytes === 27)
        assert.equal(joined(chunksIn(reader)), 'before\n')
        await make(session, 'one')
        const stars = '*'.repeat(secret.length)
        await reader.until(hasText(reader, `before\n${stars}\n`))
        await make(session, 'two')
        await reader.until(({ type, delta }) => type === chunk && String(delta).endsWith('after\n'))
        await make(session, 'three')
        await reader.until(isIdle)
        const seen = reader.frames.map(({ data }) => data)
        const text = textOf(only(seen, 'agent.tool_result'))
        assert.equal(text, joined(chunksIn(reader)))
        const parts = [
          secret,
          secret.slice(0, 12),
          Buffer.from(secret).toString('base64').slice(2, 14),
        ]
        for (const part of parts)
          assert.ok(!JSON.stringify(seen).replace(program, '').includes(part))
      },
    )

    verifies(
      ['events/ext/tool-output-wish'],
      'of a command that is interrupted while it writes, no piece follows the result',
      async () => {
        const session = await newSession(service, { tools })
        await using reader = await listen(session)
        await post(service, session, bash('while echo more; do sleep 0.01; done'))
        await reader.until(() => chunksIn(reader).length >= 3)
        await post(service, session, { type: 'user.interrupt' })
        await reader.until(isIdle)
        // What the next command writes is the next call's alone.
        await post(service, session, bash(`echo another; ${waitFor('go')}`))
        await reader.until(({ type, delta }) => type === chunk && delta === 'another\n')
        await make(session, 'go')
        const seen = reader.frames.map(({ data }) => data)
        const [interrupted] = all(seen, 'agent.tool_use')
        const [result] = all(seen, 'agent.tool_result')
        assert.ok(interrupted && result)
        assert.match(textOf(result), /more\n\[interrupted/)
        const last = seen.findLastIndex(
          ({ type, tool_use_id }) => type === chunk && tool_use_id === interrupted.id,
        )
        assert.ok(last >= 0 && last < seen.indexOf(result))
      },
    )

    if (database === 'postgres')
      verifies(
        ['stream/any-process', 'events/ext/tool-output-wish'],
        'it reaches the readers of another process',
        async () => {
          assert.ok(url !== undefined)
          const session = await newSession(service, { tools })
          await post(service, session, bash(`echo begun; ${waitFor('go')}`))
          await using here = await listen(session)
          await here.until(hasText(here, 'begun\n'))
          // The other process begins when this one has the session.
          const other = await boot('postgres', { env: besideService(url, service) })
          try {
            await using there = await listen(session, other)
            await there.until(hasText(there, 'begun\n'))
            await make(session, 'go')
            await there.until(isIdle)
            assert.equal(all(await logOf(other, session), 'agent.tool_result').length, 1)
          } finally {
            await other.close()
          }
        },
      )
  })
}
