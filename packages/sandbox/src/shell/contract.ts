/** Cases: how commands run, and what a command leaves to the next. */
import assert from 'node:assert/strict'
import type { ContractCases } from '../fixture.ts'
import {
  uniqueSleep,
  parentOf,
  processesHolding,
  processesWith,
  run,
  say,
  until,
} from '../fixture.ts'

const mebibyte = 1 << 20

export const shellCases: ContractCases = {
  'says how a command ended': async ({ open }) => {
    const sandbox = await open()
    const codes = { true: 0, false: 1, 'exit 7': 7, '/nowhere': 127, 'kill -9 $$': 137 }
    for (const [command, exitCode] of Object.entries(codes)) {
      const result = await run(sandbox, command)
      assert.deepEqual([result.ended, result.exitCode], ['exit', exitCode], command)
    }
  },

  'gives stdout and stderr in the order written': async ({ open }) => {
    const sandbox = await open()
    const output = await say(sandbox, 'for i in {1..300}; do echo o$i; echo e$i >&2; done')
    const lines = Array.from({ length: 300 }, (_, i) => `o${i + 1}\ne${i + 1}`)
    assert.equal(output, lines.join('\n'))
  },

  'carries directory, variables, functions, aliases and options': async ({ open }) => {
    const sandbox = await open()
    await run(
      sandbox,
      `mkdir -p 'a b/c'; cd 'a b/c'; here='it'"'"'s $HOME'; export seen=1; list=(1 '2 3'); declare -A map=([k]=v)
       hello() { echo "hello $1"; }; alias bye='echo bye'; set -u; set -o pipefail; shopt -s globstar extglob`,
    )
    const output = await say(
      sandbox,
      `pwd | tail -c 7; echo "$here"; printenv seen; echo "\${list[1]}" "\${map[k]}"; hello you
       bye
       shopt -po nounset pipefail; shopt -p globstar extglob`,
    )
    const options = ['set -o nounset', 'set -o pipefail', 'shopt -s globstar', 'shopt -s extglob']
    const values = ['/a b/c', "it's $HOME", '1', '2 3 v', 'hello you', 'bye']
    assert.deepEqual(output.split('\n'), [...values, ...options])
  },

  'keeps the state of a command that exits': async ({ open }) => {
    const sandbox = await open()
    assert.equal((await run(sandbox, 'kept=1; cd /tmp; exit 7')).exitCode, 7)
    assert.equal(await say(sandbox, 'echo $kept $PWD'), '1 /tmp')
    assert.equal((await run(sandbox, 'kept=2; f() { exit 3; }; f')).exitCode, 3)
    assert.equal(await say(sandbox, 'echo $kept'), '2')
  },

  'ends a command at its error under set -e, and not the next': async ({ open }) => {
    const sandbox = await open()
    const failed = await run(sandbox, 'set -e; kept=1; false; echo not here')
    assert.deepEqual([failed.exitCode, failed.output], [1, ''])
    assert.equal(await say(sandbox, 'false; echo $kept'), '1')
  },

  'keeps the state through a syntax error': async ({ open }) => {
    const sandbox = await open()
    await run(sandbox, 'kept=1')
    for (const command of ['if then', 'echo "unbalanced', 'echo $((', 'cat <<EOF\nno end']) {
      const { ended, output } = await run(sandbox, command)
      assert.equal(ended, 'exit', command)
      assert.notEqual(output, '', command)
    }
    assert.equal(await say(sandbox, 'echo $kept'), '1')
  },

  'runs the EXIT trap of the command': async ({ open }) => {
    const sandbox = await open()
    assert.equal(await say(sandbox, "trap 'echo last' EXIT; kept=1; echo first"), 'first\nlast')
    assert.equal(await say(sandbox, 'echo $kept'), '1')
  },

  'gives readers of stdin an end at once': async ({ open }) => {
    const sandbox = await open()
    const { output, exitCode } = await run(sandbox, 'cat; read -r line; echo "[$line]"', 5_000)
    assert.deepEqual([output, exitCode], ['[]\n', 0])
  },

  'kills a command that runs out of time, and keeps the state of the command before': async ({
    open,
  }) => {
    const sandbox = await open()
    const sign = uniqueSleep()
    await run(sandbox, 'kept=1')
    const started = performance.now()
    const command = `trap '' TERM; kept=2; echo begun; sleep ${sign} & (sleep ${sign}; true) | cat`
    const { ended, output, exitCode } = await run(sandbox, command, 300)
    assert.deepEqual([ended, output, exitCode], ['timeout', 'begun\n', undefined])
    assert.ok(performance.now() - started < 3_000)
    await until('the group is gone', () => processesWith(sign).length === 0)
    assert.equal(await say(sandbox, 'echo $kept'), '1')
  },

  'stops at once when it is aborted': async ({ open }) => {
    const sandbox = await open()
    const sign = uniqueSleep()
    const gone = await sandbox.shell({
      ...{ command: `sleep ${sign}`, timeoutMs: 60_000 },
      signal: AbortSignal.abort(),
    })
    assert.equal(gone.ended, 'aborted')
    const controller = new AbortController()
    const running = sandbox.shell({
      // The command replaces the shell, because a shell may print the signal that ended its program.
      ...{ command: `echo begun; exec sleep ${sign}`, timeoutMs: 60_000 },
      signal: controller.signal,
    })
    await until('it runs', () => processesWith(sign).length > 0)
    const started = performance.now()
    controller.abort()
    const { ended, output } = await running
    assert.deepEqual([ended, output], ['aborted', 'begun\n'])
    assert.ok(performance.now() - started < 1_000)
    await until('the group is gone', () => processesWith(sign).length === 0)
  },

  'does not wait for the background processes of a command': async ({ open }) => {
    const sandbox = await open()
    const started = performance.now()
    const { output } = await run(sandbox, `sleep ${uniqueSleep()} & echo $! >pid; echo hi`)
    assert.equal(output, 'hi\n')
    assert.ok(performance.now() - started < 2_000)
    assert.equal(await say(sandbox, 'kill -0 $(cat pid) && echo alive'), 'alive')
  },

  'runs one command after the other': async ({ open }) => {
    const sandbox = await open()
    const commands = Array.from({ length: 8 }, (_, i) => run(sandbox, `n=$((n+1)); echo ${i} $n`))
    const outputs = (await Promise.all(commands)).map(({ output }) => output.trim())
    assert.deepEqual(
      outputs,
      outputs.map((_, i) => `${i} ${i + 1}`),
    )
  },

  'keeps the end of 50 MB of output, and the whole in a file, but not in memory': async ({
    open,
  }) => {
    const sandbox = await open()
    const size = 50 * mebibyte
    const before = process.memoryUsage().rss
    const { output, bytes, spilled } = await run(sandbox, `yes abcdefg | head -c ${size}`)
    assert.ok(process.memoryUsage().rss - before < 24 * mebibyte)
    assert.equal(bytes, size)
    assert.equal(output.length, 100 << 10)
    assert.ok(output.endsWith('abcdefg\n'))
    assert.ok(spilled)
    const file = await sandbox.read(spilled, { offset: size - 8, maxBytes: 100 })
    assert.ok(
      file.ok && file.size === size && Buffer.from(file.bytes).equals(Buffer.from('abcdefg\n')),
    )
  },

  'keeps the whole of a long output in the working folder, out of sight, for the next sandbox':
    async ({ open, spec }) => {
      const same = spec()
      const sandbox = await open(same)
      const { spilled } = await run(sandbox, 'mv() { false; }; yes | head -c 200000')
      assert.match(spilled ?? '', /^\/workspace\/\.steward\/results\/[^/]+$/)
      const found = await sandbox.search({ pattern: '^y$', path: '/workspace', timeoutMs: 5_000 })
      assert.equal(found.output, '')
      await sandbox.close()
      const file = await (await open(same)).read(spilled ?? '', { offset: 0, maxBytes: 4 })
      assert.ok(file.ok && file.size === 200_000)
    },

  'keeps the newest of its long outputs alone': async ({ open }) => {
    const sandbox = await open()
    const older = `mkdir -p .steward/results/folder; cd .steward/results; mkfifo -m 600 pipe
      for n in $(seq 100 199); do echo $n > $n; touch -d "@$n" $n; done`
    await run(sandbox, older)
    const { spilled } = await run(sandbox, 'yes | head -c 200000')
    const left = await say(sandbox, 'ls')
    assert.deepEqual(left.split('\n').slice(0, 2), ['101', '102'])
    assert.equal(left.split('\n').length, 99 + 3)
    await run(sandbox, 'rm *; truncate -s 2G large; touch -d @1 large')
    await run(sandbox, 'yes | head -c 200000')
    assert.doesNotMatch(await say(sandbox, 'ls'), /large/)
    assert.match(spilled ?? '', /output-/)
  },

  'gives up on a file of more than the scratch space': async ({ open }) => {
    const sandbox = await open({ limits: { scratch: mebibyte } })
    const { bytes, spilled, ended } = await run(sandbox, `yes | head -c ${4 * mebibyte}`)
    assert.deepEqual([bytes, spilled, ended], [4 * mebibyte, undefined, 'exit'])
    assert.equal(await say(sandbox, 'echo still'), 'still')
  },

  'removes ANSI codes, and cuts no character in two': async ({ open }) => {
    const sandbox = await open()
    const colours = await say(sandbox, String.raw`printf '\e[31mred\e[0m \e]0;title\a.'`)
    assert.equal(colours, 'red .')
    const { output } = await run(sandbox, `printf x; printf '€%.0s' {1..60000}`)
    assert.ok(!output.includes('\ufffd') && output.startsWith('€') && output.length > 30_000)
  },

  'takes commands longer than an argument may be': async ({ open }) => {
    const sandbox = await open()
    const command = `kept=1; # ${'x'.repeat(400_000)}\necho $kept`
    assert.equal(await say(sandbox, command), '1')
    assert.equal(await say(sandbox, 'echo $kept'), '1')
  },

  'gives commands the variables of the session': async ({ open }) => {
    const sandbox = await open({ env: { NAME: "a 'b'\n$c", PATH: '/usr/bin:/bin' } })
    assert.equal(await say(sandbox, 'printenv NAME; echo $PATH'), "a 'b'\n$c\n/usr/bin:/bin")
  },

  'gives the secrets of a command to it alone, and nothing of the shell but its directory': async ({
    open,
  }) => {
    const sandbox = await open({ env: { NAME: 'session' } })
    const secretEnv = { TOKEN: `token-${uniqueSleep()}`, NAME: 'own' }
    const secret = (command: string) => sandbox.shell({ command, timeoutMs: 20_000, secretEnv })
    await run(
      sandbox,
      `mkdir -p 'a b'; cd 'a b'; kept=1; printenv() { echo caught; }; alias true='echo caught'; set -u
       trap 'echo caught' DEBUG; cat() { echo caught; }`,
    )
    const { output } = await secret(
      'echo "${#TOKEN} $NAME [$kept] ${PWD##*/}"; printenv NAME; true',
    )
    assert.equal(output, `${secretEnv.TOKEN.length} own [] a b\nown\n`)
    await secret('kept=2; cd /; export TOKEN COPY=$TOKEN; later() { :; }')
    assert.equal(await say(sandbox, 'trap - DEBUG; echo "$kept ${PWD##*/} $NAME"'), '1 a b session')
    const left =
      'unset -f cat; echo "${TOKEN-none} ${COPY-none}"; declare -F later; env | grep -c oken-'
    assert.equal(await say(sandbox, left), 'none none\n0')
  },

  'hides the secrets of a command in its output, and stores no whole output': async ({ open }) => {
    const sandbox = await open()
    const TOKEN = `first-${uniqueSleep()}\nsecond-${uniqueSleep()}`
    const secret = (command: string) =>
      sandbox.shell({ command, timeoutMs: 20_000, secretEnv: { TOKEN, SHORT: 'a' } })
    assert.equal((await secret('printenv TOKEN')).output, `${'*'.repeat(TOKEN.length)}\n`)
    const line = TOKEN.split('\n')[1] ?? ''
    assert.equal(
      (await secret('printenv TOKEN | tail -n 1')).output,
      `${'*'.repeat(line.length)}\n`,
    )
    const quoted = `quoted-"${uniqueSleep()}"\\`
    const printed = await sandbox.shell({
      // Prints the value as JSON, with programs that every sandbox has.
      ...{ command: `printenv QUOTED | sed 's/["\\\\]/\\\\&/g; s/.*/"&"/'`, timeoutMs: 20_000 },
      secretEnv: { QUOTED: quoted },
    })
    assert.match(printed.output, /^"[*]+"\n$/)
    const encoded = await sandbox.shell({
      // Prints the value as Base64 and in a URL, with programs that every sandbox has.
      command: 'printenv WORD | base64 | tail -n 1; printenv WORD | sed "s/+/%2B/; s/&/%26/"',
      ...{ timeoutMs: 20_000, secretEnv: { WORD: `a+b&${uniqueSleep()}` } },
    })
    assert.match(encoded.output, /^[*]+[\w+/]{0,2}=*\n[*]+\n$/)
    const { output, spilled } = await secret('for i in {1..9000}; do echo "$TOKEN"; done')
    assert.equal(spilled, undefined)
    assert.match(output, /^[*\n]+$/)
  },

  'keeps secrets in the process of the command, and in no argument or file': async ({ open }) => {
    const sandbox = await open()
    const [sign, TOKEN] = [uniqueSleep(), `token-${uniqueSleep()}`]
    const running = sandbox.shell({
      ...{ command: `sleep ${sign}; true`, timeoutMs: 500, secretEnv: { TOKEN } },
    })
    await until('it runs', () => processesWith(sign).length === 1)
    const holders = processesHolding('environ', TOKEN)
    const command = processesWith(sign).flatMap((pid) => [pid, parentOf(pid)])
    assert.deepEqual(
      holders,
      command.toSorted((a, b) => a - b),
    )
    assert.deepEqual(processesHolding('cmdline', TOKEN), [])
    assert.equal((await running).ended, 'timeout')
    await until('it is gone', () => processesHolding('environ', TOKEN).length === 0)
    const [first, rest] = [TOKEN.slice(0, 5), TOKEN.slice(5)]
    const search = `ls -A /run/shell "$HOME"/state 2>/dev/null | grep -x state; grep -rs ${first}''${rest} . "$HOME" /run/shell`
    assert.equal(await say(sandbox, `kept=1`), '')
    assert.match(await say(sandbox, search), /^state$/)
  },

  'gives secrets to commands longer than an argument may be': async ({ open }) => {
    const sandbox = await open()
    const command = `# ${'x'.repeat(400_000)}\necho \${#TOKEN}`
    const result = await sandbox.shell({
      ...{ command, timeoutMs: 20_000, secretEnv: { TOKEN: 'secret' } },
    })
    assert.equal(result.output, '6\n')
  },

  'runs a command aside while the shell has another, with variables and a directory of its own':
    async ({ open }) => {
      const sandbox = await open()
      await run(sandbox, 'mkdir elsewhere; cd elsewhere; kept=1; f() { echo taken; }')
      const [sign, TOKEN] = [uniqueSleep(), `token-${uniqueSleep()}`]
      const shell = run(sandbox, `sleep ${sign}`)
      await until('it runs', () => processesWith(sign).length === 1)
      const script =
        'pwd | tail -c 10; echo "$1-${kept-none}-$TOKEN"; type -t f; cd /; left=1; exit 3'
      const aside = { script, arguments: ["a 'b'"], env: { TOKEN }, timeoutMs: 20_000 }
      const result = await sandbox.aside(aside)
      assert.deepEqual(
        [result.output, result.exitCode],
        [`workspace\na 'b'-none-${'*'.repeat(TOKEN.length)}\n`, 3],
      )
      await sandbox.restartShell()
      assert.equal((await shell).ended, 'aborted')
      assert.equal(await say(sandbox, 'echo "${left-none}"'), 'none')
    },

  'ends a command aside with its time, with its signal and with the shell': async ({ open }) => {
    const sandbox = await open()
    const begin = async (timeoutMs: number, signal?: AbortSignal) => {
      const sign = uniqueSleep()
      const script = 'sleep "$1" & wait'
      const given = { script, arguments: [sign], timeoutMs, ...(signal && { signal }) }
      const ended = sandbox.aside(given).then((result) => result.ended)
      await until('it runs', () => processesWith(sign).length > 0)
      return { sign, ended }
    }
    const stop = new AbortController()
    const [timed, stopped, left] = [
      await begin(1_000),
      await begin(20_000, stop.signal),
      await begin(20_000),
    ]
    stop.abort()
    assert.deepEqual([await timed.ended, await stopped.ended], ['timeout', 'aborted'])
    await sandbox.restartShell()
    assert.equal(await left.ended, 'aborted')
    for (const { sign } of [timed, stopped, left]) assert.deepEqual(processesWith(sign), [])
  },
}
