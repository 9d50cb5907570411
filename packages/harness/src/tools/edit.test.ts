import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { editTool, readTool, writeTool } from './files.ts'
import { openSandbox, say } from './sandbox-fixture.ts'
import { grepTool } from './search.ts'

void describe('an edit', () => {
  let setup: Awaited<ReturnType<typeof openSandbox>>
  let sandbox: Sandbox
  const tools = { edit: editTool, grep: grepTool, read: readTool, write: writeTool }

  before(async () => {
    setup = await openSandbox()
    sandbox = setup.sandbox
  })
  after(() => setup[Symbol.asyncDispose]())

  async function use(name: keyof typeof tools, input: Record<string, unknown>) {
    const result = await tools[name].run(sandbox, input, new AbortController().signal)
    const texts = result.content.map((block) => (block.type === 'text' ? block.text : block.type))
    return { text: texts.join(''), is_error: result.is_error }
  }

  void it('fits the line ends of the file, writes its own, and keeps all other bytes', async () => {
    const file_path = 'crlf.txt'
    const edited = async (
      content: string,
      old_string: string,
      new_string: string,
      more: object = {},
    ) => {
      await use('write', { file_path, content })
      const { text, is_error } = await use('edit', { file_path, old_string, new_string, ...more })
      return is_error ? text : (await use('read', { file_path })).text
    }
    const windows = '\ufeffone\r\ntwo\r\nend'
    assert.equal(await edited(windows, 'one\ntwo', 'a\nb\nc'), '\ufeffa\r\nb\r\nc\r\nend')
    assert.equal(await edited(windows, 'one', 'ONE\nEXTRA'), '\ufeffONE\r\nEXTRA\r\ntwo\r\nend')
    assert.equal(await edited(windows, 'end', 'END\n'), '\ufeffone\r\ntwo\r\nEND\r\n')
    assert.equal(await edited(windows, '\n', '', { replace_all: true }), '\ufeffone\rtwo\rend')
    assert.equal(await edited(windows, 'one\r\ntwo', 'one\ntwo'), '\ufeffone\ntwo\r\nend')
    const mixed = 'a\nb\r\na\r\nc\na\r\nc\r\n'
    assert.equal(await edited(mixed, 'b\na\nc', 'x\ny'), 'a\nx\r\ny\na\r\nc\r\n')
    assert.equal(await edited(mixed, 'c\na\nc', 'x'), 'a\nb\r\na\r\nx\r\n')
    assert.equal(
      await edited('a\r\nb\r\na\r\nb\r\n', 'a\nb', 'c\nd', { replace_all: true }),
      'c\r\nd\r\n'.repeat(2),
    )
    assert.match(await edited('a\r\nb\r\na\r\nb\r\n', 'a\nb', 'c'), /2 times/)
    assert.match(await edited(windows, 'two\none', 'x'), /not stand/)
    assert.equal(await edited('ä\r\nö', 'ä\nö', 'é\n'), 'é\r\n')
  })

  void it('changes the file under all its names where it has several', async () => {
    await say(sandbox, 'echo old > first; chmod 750 first; ln first second')
    await use('edit', { file_path: 'first', old_string: 'old', new_string: 'new' })
    assert.equal(await say(sandbox, 'cat second; stat -c "%a %h" first'), 'new\n750 2')
  })

  void it('keeps lines whose ends a search finds', async () => {
    await use('write', { file_path: 'w/a.txt', content: 'foo\r\nend\r\n' })
    for (const pattern of ['^end$', 'foo$'])
      assert.match((await use('grep', { pattern, path: 'w' })).text, /a\.txt:\d:(foo|end)/)
  })
})
