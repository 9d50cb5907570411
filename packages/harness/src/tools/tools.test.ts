/** The tools on a real sandbox, as a turn runs them. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Tools } from '@steward/protocol/tools.ts'
import { resolveTools } from '@steward/protocol/tools.ts'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { call, playTurn, shutEgress, text } from '../fixture.ts'
import { inputProblem } from './input.ts'
import { openSandbox, say } from './sandbox-fixture.ts'
import { bindToSandbox } from './spill.ts'
import type { SandboxTool, Tool } from './tool.ts'
import { textResult } from './tool.ts'
import { buildTools } from './toolset.ts'

const all: Tools = [{ type: 'agent_toolset_20260401' }]
const offerTools = (tools: Tools, sandbox: () => Promise<Sandbox>) =>
  buildTools(resolveTools(tools), { ...shutEgress, sandbox })
const nowhere = () => Promise.reject(new SandboxEnded('no room in /srv/data'))

void describe('built-in tools', () => {
  let setup: Awaited<ReturnType<typeof openSandbox>>
  let sandbox: Sandbox
  let tools: Map<string, Tool>

  before(async () => {
    setup = await openSandbox()
    sandbox = setup.sandbox
    tools = new Map(offerTools(all, async () => sandbox).map((tool) => [tool.name, tool]))
  })
  after(() => setup[Symbol.asyncDispose]())

  /** Checks the input like a turn, then runs the tool. */
  async function use(
    name: string,
    input: Record<string, unknown>,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<{ text: string; is_error: boolean }> {
    const tool = tools.get(name)
    assert.ok(tool, name)
    const wrong = await inputProblem(tool, input)
    if (wrong) return { text: wrong, is_error: true }
    const { content, is_error } = await tool.run(input, { signal })
    const texts = content.map((block) => (block.type === 'text' ? block.text : block.type))
    return { text: texts.join(''), is_error }
  }
  const ok = (text: string) => ({ text, is_error: false })
  const fails = async (name: string, input: Record<string, unknown>, why: RegExp) => {
    const { text, is_error } = await use(name, input)
    assert.match(text, why)
    assert.equal(is_error, true)
  }

  void it('have the same schemas in every turn, which are compiled once', () => {
    const again = offerTools(all, async () => sandbox)
    assert.deepEqual(
      again.map(({ name }) => name),
      [...tools.keys()],
    )
    for (const { name, input, input_schema } of again) {
      assert.equal(input, 'checked', name)
      assert.equal(input_schema, tools.get(name)?.input_schema, name)
    }
  })

  void it('do not wait for a sandbox that starts for long, when they are interrupted', async () => {
    const stop = new AbortController()
    const [bash] = offerTools(all, () => new Promise(() => {}))
    const running = bash?.run({ command: 'true' }, { signal: stop.signal })
    stop.abort('interrupted')
    const result = await running
    assert.equal(result?.is_error, true)
    assert.match(JSON.stringify(result?.content), /while the sandbox was starting; nothing was run/)
  })

  void describe('bash', () => {
    void it('keeps directory, variables and functions from command to command', async () => {
      const begun = 'mkdir -p sub; cd sub; x=1; f() { echo "f $x"; }'
      assert.deepEqual(await use('bash', { command: begun }), ok('(no output)'))
      assert.deepEqual(await use('bash', { command: 'pwd; f' }), ok('/workspace/sub\nf 1\n'))
      assert.deepEqual(await use('bash', { restart: true }), ok('the shell was restarted'))
      assert.deepEqual(await use('bash', { command: 'pwd; echo [$x]' }), ok('/workspace\n[]\n'))
      assert.deepEqual(await use('bash', { command: 'x=2', restart: true }), ok('(no output)'))
    })

    void it('gives both outputs in order, and another code than 0 as an error', async () => {
      assert.deepEqual(await use('bash', { command: 'echo a; echo b >&2; exit 3' }), {
        text: 'a\nb\n[exit 3]',
        is_error: true,
      })
      assert.deepEqual(await use('bash', { command: 'exit 4' }), { text: 'exit 4', is_error: true })
    })

    void it('stops after its time, with all that runs, and the next shell is fresh', async () => {
      await use('bash', { command: 'x=1; cd sub' })
      const { text, is_error } = await use('bash', {
        command: 'printf begun; (setsid sleep 611 &); sleep 611',
        timeout_ms: 300,
      })
      assert.match(text, /^begun\n\[stopped after 300 ms; .*fresh shell\]$/)
      assert.equal(is_error, true)
      const next = await use('bash', { command: 'pwd; echo "[$x]"; pgrep -c -f "sleep 61[1]"' })
      assert.equal(next.text, '/workspace\n[]\n0\n[exit 1]')
    })

    void it('stops at once when it is interrupted', async () => {
      const stop = new AbortController()
      const running = use('bash', { command: 'echo begun; sleep 612' }, stop.signal)
      setTimeout(() => stop.abort(), 100)
      const { text, is_error } = await running
      assert.match(text, /interrupted/)
      assert.equal(is_error, true)
    })

    void it('refuses inputs that make no sense', async () => {
      await fails('bash', {}, /give a command/)
      await fails('bash', { command: 1 }, /must be string/)
      await fails('bash', { command: 'true', timeout_ms: 0 }, /must be >= 1/)
    })

    void it('keeps the end of long output behind a note', async () => {
      const { text } = await use('bash', { command: 'yes "äöüäöü" | head -c 200000; echo last' })
      assert.match(text, /^\[the last \d+ of 200005 bytes; the whole is in (\/workspace\/\S+)\]/)
      assert.match(text, /last\n$/)
      assert.ok(text.length < 100_000)
      assert.ok(Buffer.byteLength(text) <= 102_400 + 200)
    })

    void it('shows the ends of a result that is too long, and where the whole is', async () => {
      const { text } = await use('bash', { command: 'seq 1 200000' })
      assert.ok(text.length < 10_000)
      const path = /the whole is in (\S+)\]$/.exec(text)?.[1]
      assert.equal(await say(sandbox, `wc -l < ${path}`), '200000')
      assert.match(text, /200000\n+\[shortened/)
    })
  })

  void describe('read', () => {
    void it('gives a file as it is, and lines of it by their numbers', async () => {
      await use('bash', { command: 'printf "\\xef\\xbb\\xbfone\\r\\ntwo\\nthree" > r.txt' })
      assert.deepEqual(await use('read', { file_path: 'r.txt' }), ok('\ufeffone\r\ntwo\nthree'))
      const lines = (...view_range: number[]) => use('read', { file_path: 'r.txt', view_range })
      assert.deepEqual(await lines(2, 2), ok('two\n'))
      assert.deepEqual(await lines(2, 3), ok('two\nthree'))
      assert.deepEqual(await lines(2, 99), ok('two\nthree'))
      for (const last of [0, -1]) assert.deepEqual(await lines(3, last), ok('three'))
      assert.deepEqual(await lines(4, -1), { text: 'r.txt has 3 lines', is_error: true })
      for (const range of [
        [0, 1],
        [3, 2],
      ]) {
        assert.equal((await lines(...range)).is_error, true)
      }
      await fails('read', { file_path: 'r.txt', view_range: [1] }, /fewer than 2/)
    })

    void it('finds lines of files of any size, and cuts what is too much', async () => {
      await use('bash', {
        command:
          'seq 1 3000000 > large.txt; (printf x; yes ä | head -n 200000) | tr -d "\n" > one.txt',
      })
      await fails('read', { file_path: 'large.txt' }, /give a view_range/)
      const at = (...view_range: number[]) => use('read', { file_path: 'large.txt', view_range })
      assert.deepEqual(await at(2_999_999, 0), ok('2999999\n3000000\n'))
      assert.deepEqual(await at(2_000_000, 2_000_001), ok('2000000\n2000001\n'))
      assert.deepEqual(await at(3_000_001, 0), {
        text: 'large.txt has 3000000 lines',
        is_error: true,
      })
      const one = await use('read', { file_path: 'one.txt', view_range: [1, 1] })
      assert.match(
        one.text,
        /\[cut at 262144 bytes\]\n\n\[shortened; the whole is in \/workspace\/one/,
      )
      assert.equal(one.is_error, false)
    })

    void it('names a file that is too long for the model, and makes no other', async () => {
      await use('bash', { command: 'head -c 200000 /dev/zero | tr "\\0" x > x.txt' })
      const { text } = await use('read', { file_path: 'x.txt' })
      assert.match(text, /the whole is in \/workspace\/x\.txt\]$/)
    })

    void it('refuses a file that is no text', async () => {
      await use('bash', {
        command: 'mkfifo pipe; printf "\\377" > latin; printf "a\\0b" > nul; : > empty',
      })
      await fails('read', { file_path: 'pipe' }, /pipe: not a regular file/)
      await fails('read', { file_path: 'pipe', view_range: [1, 1] }, /not a regular file/)
      await fails('read', { file_path: 'latin' }, /not UTF-8/)
      await fails('read', { file_path: 'nul' }, /not UTF-8/)
      await fails('read', { file_path: '/workspace' }, /not a regular file/)
      await fails('read', { file_path: 'none/at all' }, /does not exist/)
      assert.deepEqual(await use('read', { file_path: 'empty' }), ok('(empty file)'))
    })
  })

  void describe('write and edit', () => {
    void it('make folders, say how many bytes, and replace what was there', async () => {
      const file_path = '/mnt/session/outputs/a/b/c.txt'
      assert.deepEqual(
        await use('write', { file_path, content: 'é\n' }),
        ok(`wrote 3 bytes to ${file_path}`),
      )
      await use('write', { file_path, content: 'x' })
      assert.equal(await say(sandbox, `cat ${file_path}; stat -c %a ${file_path}`), 'x644')
    })

    void it('replace one match, or all when the call asks for all', async () => {
      const file_path = 'e.sh'
      await use('write', { file_path, content: '\ufeffecho $& a\r\necho a\n' })
      await use('bash', { command: 'chmod 755 e.sh' })
      const edit = (old_string: string, new_string: string, more: object = {}) =>
        use('edit', { file_path, old_string, new_string, ...more })
      assert.equal((await edit('echo', 'x')).text.includes('2 times'), true)
      assert.deepEqual(await edit('$& a', '$$ b'), ok('replaced 1 place in e.sh'))
      assert.deepEqual(
        await edit('echo', 'printf', { replace_all: true }),
        ok('replaced 2 places in e.sh'),
      )
      assert.equal((await edit('none', 'x')).is_error, true)
      assert.equal((await edit('printf', 'printf')).is_error, true)
      await fails('edit', { file_path, old_string: '', new_string: 'x' }, /fewer than 1/)
      assert.deepEqual(await use('read', { file_path }), ok('\ufeffprintf $$ b\r\nprintf a\n'))
      assert.equal(await say(sandbox, 'stat -c %a e.sh'), '755')
    })

    void it('refuse an edit that would take all time or memory', async () => {
      await say(sandbox, `head -c 10000000 /dev/zero | tr '\\0' a > large.txt`)
      const edit = { file_path: 'large.txt', replace_all: true }
      const [half, long] = ['a'.repeat(25_000), 'b'.repeat(2_000_000)]
      const began = process.cpuUsage()
      await fails('edit', { ...edit, old_string: 'a', new_string: long }, /more than 100000 times/)
      await fails('edit', { ...edit, old_string: half, new_string: long }, /would be too large/)
      await fails('edit', { ...edit, old_string: `${half}b${half}`, new_string: '' }, /not stand/)
      assert.ok(process.cpuUsage(began).user < 5_000_000)
      await use('bash', { command: 'rm large.txt' })
    })

    void it('reach the folders of the session and no others', async () => {
      for (const file_path of ['/etc/x', '../etc/x', '/tmp/../etc/x', '/workspaces/x', '/']) {
        await fails('write', { file_path, content: '' }, /file tools reach \/workspace/)
        await fails('read', { file_path }, /file tools reach/)
        await fails('edit', { file_path, old_string: 'a', new_string: 'b' }, /file tools reach/)
      }
      await use('write', { file_path: '~/tilde', content: 'at home' })
      assert.equal((await use('read', { file_path: '/home/user/tilde' })).text, 'at home')
      for (const file_path of ['/tmp/x', '/home/user/x', './x', '/workspace/../workspace/x']) {
        assert.equal((await use('write', { file_path, content: '' })).is_error, false)
      }
      for (const name of ['glob', 'grep']) {
        await fails(name, { pattern: 'x', path: '/etc' }, /file tools reach/)
      }
    })
  })

  void describe('glob and grep', () => {
    void it('find files, newest first, and lines with their numbers', async () => {
      await use('bash', {
        command:
          'mkdir -p g/.git g/node_modules g/d; echo hit > g/.git/a; echo hit > g/node_modules/b; ' +
          'echo hit 1 > g/old.md; touch -d 2020-01-01 g/old.md; printf "miss\\nhit 2" > g/d/new.md',
      })
      const found = await use('glob', { pattern: '**/*.md', path: 'g' })
      assert.deepEqual(found, ok('/workspace/g/d/new.md\n/workspace/g/old.md'))
      assert.deepEqual(
        await use('glob', { pattern: '*.md', path: '/workspace/g/' }),
        ok('/workspace/g/old.md'),
      )
      assert.deepEqual(await use('glob', { pattern: '*.none' }), ok('no matches'))
      assert.deepEqual(
        await use('glob', { pattern: '/workspace/g/*.md' }),
        ok('/workspace/g/old.md'),
      )
      await use('bash', { command: 'ln -s g/d lnk; ln -s /etc out' })
      assert.deepEqual(await use('glob', { pattern: 'lnk/*.md' }), ok('/workspace/lnk/new.md'))
      assert.deepEqual(await use('glob', { pattern: 'lnk/{*.md,x}' }), ok('/workspace/lnk/new.md'))
      assert.deepEqual(await use('glob', { pattern: 'g/none/*.md' }), ok('no matches'))
      await fails('glob', { pattern: '/etc/*' }, /file tools reach/)
      await fails('glob', { pattern: '/*' }, /file tools reach/)
      await fails('glob', { pattern: 'a/../*' }, /without \.\./)
      await fails('glob', { pattern: '*', path: 'missing' }, /does not exist/)
      const lines = await use('grep', { pattern: 'hit [0-9]', path: 'g' })
      assert.deepEqual(lines.text.trim().split('\n').toSorted(), [
        ...['/workspace/g/d/new.md:2:hit 2', '/workspace/g/old.md:1:hit 1'],
      ])
      assert.deepEqual(
        await use('grep', { pattern: 'nothing-at-all', path: 'g' }),
        ok('no matches'),
      )
      await fails('grep', { pattern: '(' }, /regex parse error/)
    })

    void it('give at most 200 paths', async () => {
      await use('bash', { command: 'mkdir -p many; cd many; seq 1 250 | xargs touch; cd ..' })
      const { text } = await use('glob', { pattern: 'many/*' })
      assert.equal(text.split('\n').length, 201)
      assert.match(text, /\[the newest 200 of 250\]$/)
    })

    void it('do not find long results that were saved to files', async () => {
      const long: SandboxTool = {
        ...{ name: 'long', description: '', input_schema: {}, repeat: 'safe' },
        run: async () => textResult('needle 😀\n'.repeat(20_000)),
      }
      const run = bindToSandbox(long, async () => sandbox)
      const { content } = await run({}, { signal: new AbortController().signal })
      const text = content[0]?.type === 'text' ? content[0].text : ''
      assert.ok(text.length < 10_000 && text.isWellFormed())
      const path = /the whole is in (\S+)\]$/.exec(text)?.[1] ?? ''
      assert.match(path, /^\/workspace\/\.steward\/results\//)
      assert.equal(await say(sandbox, `wc -l < ${path}`), '20000')
      assert.deepEqual(await use('grep', { pattern: 'needle' }), ok('no matches'))
      assert.deepEqual(await use('glob', { pattern: '**/results/*' }), ok('no matches'))
      const listed = await use('glob', { pattern: '*', path: '.steward/results' })
      assert.ok(listed.text.split('\n').includes(path))
      assert.match((await use('grep', { pattern: 'needle', path })).text, /20000:needle/)
    })
  })

  void describe('in a turn', () => {
    void it('run in the order of the answer when they change the sandbox', async () => {
      const command = 'cat made.txt; echo changed > made.txt'
      const { log } = await playTurn({
        tools: [...tools.values()],
        answers: [
          {
            blocks: [
              call('write', { file_path: 'made.txt', content: 'made\n'.repeat(20_000) }),
              call('bash', { command: `wc -l < made.txt; ${command} | tail -n 1` }),
              call('read', { file_path: 'made.txt' }),
            ],
          },
          { blocks: [text('done')] },
        ],
      })
      const results = log.flatMap(({ event }) =>
        event.type === 'agent.tool_result' ? [event.content] : [],
      )
      assert.match(JSON.stringify(results[1]), /20000/)
      assert.deepEqual(results[2], [{ type: 'text', text: 'changed\n' }])
    })
  })
})

void describe('tools of an agent', () => {
  void it('are those that are enabled, with their permissions, and the custom ones', () => {
    const custom = {
      type: 'custom' as const,
      name: 'look_up',
      description: 'looks up',
      input_schema: { type: 'object' as const },
    }
    const tools = offerTools(
      [
        {
          type: 'agent_toolset_20260401',
          default_config: { permission_policy: { type: 'always_ask' } },
          configs: [
            { name: 'bash', enabled: false },
            { name: 'read', permission_policy: { type: 'always_allow' } },
            { name: 'write', permission_policy: { type: 'auto' } },
          ],
        },
        custom,
      ],
      nowhere,
    )
    assert.deepEqual(
      tools.map(({ name, permission, runs }) => `${name} ${permission} ${runs}`),
      [
        ...['read allow here', 'write auto here', 'edit ask here', 'glob ask here'],
        ...['grep ask here', 'look_up allow client'],
      ],
    )
    const none = offerTools(
      [{ type: 'agent_toolset_20260401', default_config: { enabled: false } }],
      nowhere,
    )
    assert.deepEqual(none, [])
  })

  void it('say so when there is no sandbox, before and while they run', async () => {
    const run = async (sandbox: () => Promise<Sandbox>) => {
      const bash = offerTools(all, sandbox).find(({ name }) => name === 'bash')
      assert.ok(bash)
      bash.prepare()
      const input = { command: 'true' }
      return JSON.stringify(await bash.run(input, { signal: new AbortController().signal }))
    }
    assert.match(
      await run(nowhere),
      /did not start; nothing was run: no room in \(a path of the host\).*"is_error":true/,
    )
    await using setup = await openSandbox()
    const { sandbox } = setup
    await sandbox.close()
    assert.match(await run(async () => sandbox), /ended while this ran.*"is_error":true/)
  })
})
