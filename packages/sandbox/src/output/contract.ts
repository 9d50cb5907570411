/** Cases: what is heard of a command while it runs. */
import assert from 'node:assert/strict'
import type { ContractCases } from '../fixture.ts'
import { uniqueSleep, run, until } from '../fixture.ts'
import type { OutputPiece } from './piece.ts'

/** Collects what it hears. */
export function outputEar(isWanted = () => true) {
  const pieces: OutputPiece[] = []
  return {
    pieces,
    text: () => pieces.map(({ text, newIndex }) => text.slice(newIndex)).join(''),
    listener: { isWanted, tell: (piece: OutputPiece) => void pieces.push(piece) },
  }
}

/** Waits until a file of the test exists. */
const waitFor = (file: string): string => `until [ -e ${file} ]; do sleep 0.05; done`

export const outputCases: ContractCases = {
  'reports the output of a command while it runs, and nothing after its result': async ({
    open,
  }) => {
    const sandbox = await open()
    const ear = outputEar()
    const command = `echo one; echo two >&2; ${waitFor('a')}; echo three; ${waitFor('b')}; echo four`
    const running = sandbox.shell({ command, timeoutMs: 20_000, output: ear.listener })
    await until('two is told', () => ear.text() === 'one\ntwo\n')
    await sandbox.write('/workspace/a', new Uint8Array())
    await until('three is told', () => ear.text() === 'one\ntwo\nthree\n')
    const heard = ear.pieces.length
    assert.deepEqual(ear.pieces.at(-1)?.end, 14)
    assert.ok(ear.pieces.every(({ quietMs }) => quietMs >= 0 && quietMs < 20_000))
    await sandbox.write('/workspace/b', new Uint8Array())
    assert.equal((await running).output, 'one\ntwo\nthree\nfour\n')
    const after = ear.pieces.length
    await run(sandbox, 'echo another; sleep 0.5')
    assert.equal(ear.pieces.length, after)
    assert.ok(heard <= after)
  },

  'reports of 100 MB only the end, as often as of a trickle': async ({ open }) => {
    const sandbox = await open()
    const ear = outputEar()
    const command = `yes 0123456789 | head -c 104857600; ${waitFor('a')}`
    const begun = performance.now()
    const running = sandbox.shell({ command, timeoutMs: 60_000, output: ear.listener })
    await until('all is written', () => (ear.pieces.at(-1)?.total ?? 0) === 100 << 20)
    await sandbox.write('/workspace/a', new Uint8Array())
    assert.equal((await running).bytes, 100 << 20)
    const seconds = (performance.now() - begun) / 1_000
    assert.ok(ear.pieces.length <= 4 * seconds + 1)
    for (const { text } of ear.pieces) {
      assert.match(text, /^(0123456789\n)*\d*$/)
      assert.ok(text.length <= 4_096)
    }
    const last = ear.pieces.at(-1)
    assert.ok(last && last.offset > (100 << 20) - 4_097 && last.end === 100 << 20)
  },

  'reports how long a command is silent': async ({ open }) => {
    const sandbox = await open()
    const ear = outputEar()
    const command = `printf begun; ${waitFor('a')}`
    const running = sandbox.shell({ command, timeoutMs: 20_000, output: ear.listener })
    await until('the silence is told', () => (ear.pieces.at(-1)?.quietMs ?? 0) > 1_500)
    const last = ear.pieces.at(-1)
    assert.deepEqual([last?.text, last?.newIndex, last?.offset], ['begun', 5, 0])
    await sandbox.write('/workspace/a', new Uint8Array())
    await running
  },

  'reports nothing that nobody wants, and the end so far to a reader who comes later': async ({
    open,
  }) => {
    const sandbox = await open()
    let isWanted = false
    const ear = outputEar(() => isWanted)
    const command = `seq 1 5; touch begun; ${waitFor('a')}`
    const running = sandbox.shell({ command, timeoutMs: 20_000, output: ear.listener })
    await until('the command has written', async () => {
      const read = await sandbox.read('/workspace/begun', { offset: 0, maxBytes: 1 })
      return read.ok
    })
    assert.deepEqual(ear.pieces, [])
    isWanted = true
    await until('the end is told', () => ear.text() === '1\n2\n3\n4\n5\n')
    await sandbox.write('/workspace/a', new Uint8Array())
    await running
  },

  'masks the secrets of a command in its pieces': async ({ open }) => {
    const sandbox = await open()
    const ear = outputEar()
    const TOKEN = `token-${uniqueSleep()}`
    const command = `echo before; printf %s "\${TOKEN:0:9}"; ${waitFor('a')}; echo "\${TOKEN:9}"; ${waitFor('b')}`
    const running = sandbox.shell({
      ...{ command, timeoutMs: 20_000, secretEnv: { TOKEN }, output: ear.listener },
    })
    await until('all is written', () => (ear.pieces.at(-1)?.total ?? 0) === 'before\n'.length + 9)
    assert.equal(ear.text(), 'before\n')
    await sandbox.write('/workspace/a', new Uint8Array())
    const stars = '*'.repeat(TOKEN.length)
    await until('the rest is told', () => ear.text() === `before\n${stars}\n`)
    await sandbox.write('/workspace/b', new Uint8Array())
    assert.equal((await running).output, `before\n${stars}\n`)
  },
}
