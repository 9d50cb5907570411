import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openStream, untilIdle } from '../reader.ts'
import type { PostedEvent, SeenEvent } from '../turns.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, idleOf, logOf, newSession, only, post, textOf, turn, types } from '../turns.ts'
import { verifies } from '../verifies.ts'

const tools = [{ type: 'agent_toolset_20260401' }] as const
const ask = [
  { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } },
] as const

const call = (name: string, input: object) => `call ${name} ${JSON.stringify(input)}`
const confirm = (id: string, result: 'allow' | 'deny', deny_message?: string): PostedEvent => ({
  type: 'user.tool_confirmation',
  tool_use_id: id,
  result,
  ...(deny_message === undefined ? {} : { deny_message }),
})

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`tools on ${database}`, () => {
    let service: TestService
    let session: string
    before(async () => {
      service = await boot(database)
      session = await newSession(service, { tools })
    })
    after(() => service.close())

    /** The results of the calls of one turn in the shared session. */
    async function results(...lines: string[]): Promise<{ text: string; is_error: unknown }[]> {
      const seen = await turn(service, session, lines.join('\n'))
      return all(seen, 'agent.tool_result').map((each) => ({
        text: textOf(each),
        is_error: each['is_error'],
      }))
    }
    const bash = (command: string, more: object = {}) => call('bash', { command, ...more })

    verifies(
      [
        'tools/bash',
        'sandbox/path/workspace',
        'events/type/tool-use',
        'events/type/tool-result',
        'turns/tool-use-id',
        'turns/call-before-effect',
        'tools/permission/evaluated',
        'tools/permission/toolset-default',
        'versions/toolset',
      ],
      'one shell lasts from command to command, and each call has its result',
      async () => {
        const own = await newSession(service, { tools })
        const seen = await turn(
          service,
          own,
          'run: pwd; cd /tmp; export COLOUR=red; greet() { echo hi; }\nrun: pwd; echo $COLOUR; greet',
        )
        const uses = all(seen, 'agent.tool_use')
        const found = all(seen, 'agent.tool_result')
        assert.deepEqual(found.map(textOf), ['/workspace\n', '/tmp\nred\nhi\n'])
        for (const [index, use] of uses.entries()) {
          assert.equal(use['name'], 'bash')
          assert.equal(use['evaluated_permission'], 'allow')
          assert.equal(found[index]?.['tool_use_id'], use.id)
          assert.ok(seen.indexOf(use) < seen.indexOf(found[index] as SeenEvent))
        }
      },
    )

    verifies(
      ['tools/bash/exit-code', 'tools/result/empty', 'tools/bash/restart', 'tools/result/error'],
      'an exit code, no output, a fresh shell and a senseless call have results of their own',
      async () => {
        const seen = await results(
          'run: echo out; echo err >&2; exit 3',
          'run: true',
          bash('x=1'),
          call('bash', { restart: true }),
          bash('echo "[$x]"'),
          call('bash', {}),
        )
        assert.deepEqual(
          seen.map(({ is_error }) => is_error),
          [true, false, false, false, false, true],
        )
        assert.match(seen[0]?.text ?? '', /^out\nerr\n\[exit 3\]$/)
        assert.equal(seen[1]?.text, '(no output)')
        assert.equal(seen[4]?.text, '[]\n')
      },
    )

    verifies(
      ['tools/bash/timeout'],
      'a command is stopped after its time with all that it started, and the next shell is fresh',
      async () => {
        const seen = await results(
          bash('left=1; sleep 61.5 & echo begun; sleep 61.5', { timeout_ms: 400 }),
          bash('echo "[$left]"; ps -ef 2>/dev/null | grep -c "[s]leep 61.5" || true'),
        )
        assert.equal(seen[0]?.is_error, true)
        assert.match(seen[0]?.text ?? '', /begun/)
        assert.match(seen[1]?.text ?? '', /^\[\]\n0?\n?$/)
      },
    )

    verifies(
      ['tools/bash/output-cut', 'tools/result/spilled'],
      'long output keeps its end behind a note, and a long result goes to a file',
      async () => {
        const [cut, spilled] = await results(
          bash('seq 1 200000'),
          bash('seq 1 18700; echo last-line'),
        )
        assert.ok((cut?.text.length ?? 0) < 110_000)
        assert.match(cut?.text ?? '', /200000\n?$|\/[\w/.-]+/)
        assert.ok((spilled?.text.length ?? 0) < 20_000)
        const path = /the whole is in (\/[\w/.-]+)/.exec(spilled?.text ?? '')?.[1]
        const [whole] = await results(bash(`tail -n 1 ${path}`))
        assert.equal(whole?.text, 'last-line\n')
      },
    )

    verifies(
      ['tools/edit/line-ends', 'tools/edit'],
      'lines of a file with \\r\\n are edited, keep their ends, and are found by their end',
      async () => {
        const file_path = '/workspace/windows.txt'
        const seen = await results(
          call('write', { file_path, content: 'one\r\ntwo\r\nend\r\n' }),
          call('edit', { file_path, old_string: 'one\ntwo', new_string: 'a\nb\nc' }),
          call('read', { file_path }),
          call('grep', { pattern: '^end$', path: file_path }),
        )
        assert.equal(seen[2]?.text, 'a\r\nb\r\nc\r\nend\r\n')
        assert.equal(seen[3]?.text, '4:end\n')
      },
    )

    verifies(
      ['tools/write', 'tools/read', 'tools/edit'],
      'files are written, read by lines, and edited where the text is unique',
      async () => {
        const file_path = '/workspace/deep/down/notes.txt'
        const seen = await results(
          call('write', { file_path, content: 'one\ntwo\nthree\ntwo\n' }),
          call('read', { file_path }),
          call('read', { file_path, view_range: [2, 3] }),
          call('edit', { file_path, old_string: 'two', new_string: '2' }),
          call('edit', { file_path, old_string: 'two', new_string: '2', replace_all: true }),
          call('edit', { file_path, old_string: 'four', new_string: '4' }),
          call('read', { file_path }),
          call('read', { file_path: 'deep/down/missing.txt' }),
        )
        assert.deepEqual(
          seen.map(({ is_error }) => is_error),
          [false, false, false, true, false, true, false, true],
        )
        assert.match(seen[1]?.text ?? '', /one\n.*two\n.*three/)
        assert.match(seen[2]?.text ?? '', /two/)
        assert.doesNotMatch(seen[2]?.text ?? '', /one/)
        assert.match(seen[6]?.text ?? '', /one\n.*2\n.*three\n.*2/)
      },
    )

    verifies(
      'tools/read',
      'a file that is too large is read by a range, and a file that is no text is not read',
      async () => {
        const seen = await results(
          bash('seq 1 60000 > large.txt; printf "\\377\\376" > binary; mkfifo pipe'),
          call('read', { file_path: 'large.txt' }),
          call('read', { file_path: 'large.txt', view_range: [59999, 60000] }),
          call('read', { file_path: 'binary' }),
          call('read', { file_path: 'pipe' }),
        )
        assert.deepEqual(
          seen.map(({ is_error }) => is_error),
          [false, true, false, true, true],
        )
        assert.match(seen[2]?.text ?? '', /59999\n.*60000/)
      },
    )

    verifies(
      ['tools/glob', 'tools/grep'],
      'files are found newest first and by what they hold, without .git and node_modules',
      async () => {
        const seen = await results(
          bash(
            'mkdir -p find/.git find/node_modules && cd find && echo needle > .git/a.md && ' +
              'echo needle > node_modules/b.md && echo needle 1 > old.md && touch -d 2020-01-01 old.md ' +
              '&& echo needle 2 > new.md && cd ..',
          ),
          call('glob', { pattern: '**/*.md', path: 'find' }),
          call('grep', { pattern: 'needle [0-9]', path: 'find' }),
          call('glob', { pattern: '*.nothing' }),
          call('grep', { pattern: 'nothing-holds-this' }),
          call('grep', { pattern: '(' }),
        )
        const lines = (seen[1]?.text ?? '').trim().split('\n')
        assert.equal(lines.length, 2, seen[1]?.text)
        assert.match(lines[0] ?? '', /new\.md$/)
        assert.match(lines[1] ?? '', /old\.md$/)
        assert.match(seen[2]?.text ?? '', /old\.md.*needle 1/)
        assert.doesNotMatch(seen[2]?.text ?? '', /a\.md|b\.md/)
        assert.equal(seen[5]?.is_error, true)
      },
    )

    verifies(
      'tools/files/confined',
      'a link in the working folder leads to files of the sandbox, never out of it',
      async () => {
        const [, passwd, shadow] = await results(
          bash('ln -s /etc/passwd names; ln -s /etc/shadow hashes'),
          call('read', { file_path: '/workspace/names' }),
          call('read', { file_path: '/workspace/hashes' }),
        )
        assert.match(passwd?.text ?? '', /^root:x:0:0:.*\nuser:x:1000:/)
        assert.equal(passwd?.text.trim().split('\n').length, 3)
        assert.equal(shadow?.is_error, true)
      },
    )

    it('file tools refuse paths outside the folders of the session', async () => {
      const seen = await results(
        call('read', { file_path: '/etc/passwd' }),
        call('read', { file_path: '../etc/passwd' }),
        call('read', { file_path: '/workspace/../etc/passwd' }),
        call('write', { file_path: '/etc/evil', content: 'x' }),
        call('edit', { file_path: '/etc/passwd', old_string: 'root', new_string: 'x' }),
        call('glob', { pattern: '*', path: '/etc' }),
        call('grep', { pattern: 'root', path: '/etc' }),
      )
      for (const { is_error, text } of seen) assert.equal(is_error, true, text)
    })

    verifies(
      [
        'tools/permission/ask',
        'tools/permission/no-limit',
        'tools/permission/types',
        'events/post/tool-confirmation',
        'events/type/user-tool-confirmation',
      ],
      'a call that asks runs after it was allowed, and not before',
      async () => {
        const own = await newSession(service, { tools: ask })
        const first = await turn(service, own, 'run: echo allowed')
        const use = only(first, 'agent.tool_use')
        assert.equal(use['evaluated_permission'], 'ask')
        assert.deepEqual(all(first, 'agent.tool_result'), [])
        assert.deepEqual(idleOf(first).stop_reason, {
          type: 'requires_action',
          event_ids: [use.id],
        })
        const rest = await turn(service, own, confirm(use.id, 'allow'))
        assert.equal(textOf(only(rest, 'agent.tool_result')), 'allowed\n')
        assert.deepEqual(idleOf(rest).stop_reason, { type: 'end_turn' })
        const again = await logOf(service, own)
        await post(service, own, confirm(use.id, 'allow'))
        assert.deepEqual(await logOf(service, own), again)
        const log = await logOf(service, own)
        assert.equal(only(log, 'user.tool_confirmation')['tool_use_id'], use.id)
      },
    )

    verifies(
      ['tools/permission/types', 'tools/permission/evaluated'],
      'a call under the policy auto asks, and says that it is judged by that policy',
      async () => {
        const auto = { permission_policy: { type: 'auto' } }
        const tools = [{ type: 'agent_toolset_20260401', default_config: auto }]
        const own = await newSession(service, { tools })
        const use = only(await turn(service, own, 'run: echo judged'), 'agent.tool_use')
        assert.equal(use['evaluated_permission'], 'ask')
        const evaluated_permission = { type: 'ask', reason_code: 'indeterminate' }
        assert.deepEqual(use['evaluation'], { type: 'auto', evaluated_permission })
        const rest = await turn(service, own, confirm(use.id, 'allow'))
        assert.equal(textOf(only(rest, 'agent.tool_result')), 'judged\n')
      },
    )

    verifies(
      ['turns/denied', 'events/post/deny-message'],
      'a denied call does not run, and the model reads why',
      async () => {
        const own = await newSession(service, { tools: ask })
        const use = only(await turn(service, own, 'run: touch never'), 'agent.tool_use')
        const rest = await turn(service, own, confirm(use.id, 'deny', 'not on a Sunday'))
        const result = only(rest, 'agent.tool_result')
        assert.equal(result['is_error'], true)
        assert.match(textOf(result), /not on a Sunday/)
        const next = only(await turn(service, own, 'call glob {"pattern": "*"}'), 'agent.tool_use')
        const files = await turn(service, own, confirm(next.id, 'allow'))
        assert.doesNotMatch(textOf(only(files, 'agent.tool_result')), /never/)
      },
    )

    verifies(
      ['turns/interrupt', 'sessions/cancel/at-once'],
      'an interrupt ends a running command at once, and the session goes on',
      async () => {
        const own = await newSession(service, { tools })
        await using reader = await openStream(service, `/v1/sessions/${own}/events/stream`)
        await post(service, own, 'run: echo begun; sleep 60')
        await reader.untilType('agent.tool_use')
        const before = Date.now()
        await post(service, own, { type: 'user.interrupt' })
        await reader.untilType('session.status_idle')
        assert.ok(Date.now() - before < 3000)
        const seen = await untilIdle(service, own)
        assert.deepEqual(idleOf(seen).stop_reason, { type: 'end_turn' })
        assert.equal(only(seen, 'agent.tool_result')['is_error'], true, types(seen).join())
        const next = await turn(service, own, 'run: echo here')
        assert.match(textOf(only(next, 'agent.tool_result')), /here/)
      },
    )
  })
}
