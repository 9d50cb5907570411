import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { processorMs } from '@steward/base/cost-fixture.ts'
import type { IndexedEntry } from '@steward/space/working-folder/archive-index.ts'
import { compareFolders } from './compare.ts'

const file = (
  content: string | null,
  size = content?.length ?? 9,
  modifiedMs = 0,
): IndexedEntry => ({
  ...{ kind: 'file', size, modifiedMs, target: null, archive: 'x', entryPath: 'x', hash: content },
})
const link = (target: string): IndexedEntry => ({ ...file(null, 0), kind: 'link', target })

async function compared(
  before: Record<string, IndexedEntry>,
  after: Record<string, IndexedEntry>,
): Promise<string[]> {
  const indexes = [before, after].map((each) => new Map(Object.entries(each)))
  const [one = new Map(), other = new Map()] = indexes
  const changes = await compareFolders(one, other, (path) => !path.startsWith('hidden'))
  return changes
    .map(({ path, before: was, after: is, previousPath }) =>
      [previousPath ?? (was ? path : ''), is ? path : ''].join(' > '),
    )
    .toSorted()
}

describe('two states of a folder', () => {
  it('differ in files and links, and not in folders or in what is not looked at', async () => {
    const folder: IndexedEntry = { ...file(null, 0), kind: 'folder' }
    const before = { same: file('a'), changed: file('a'), gone: file('b'), l: link('x'), d: folder }
    const after = {
      same: file('a', 1, 5),
      changed: file('c'),
      l: link('y'),
      hidden: file('h'),
      e: folder,
    }
    assert.deepEqual(await compared(before, after), ['changed > changed', 'gone > ', 'l > l'])
    assert.deepEqual(await compared({ x: folder }, { x: file('a') }), [' > x'])
  })

  it('show a file under another path as renamed, the one with the same name before others', async () => {
    const before = { 'a/one': file('same'), 'a/two': file('same'), 'a/empty': file('', 0) }
    const after = { 'b/two': file('same'), 'b/other': file('same'), 'b/empty': file('', 0) }
    assert.deepEqual(await compared(before, after), [
      ...[' > b/empty', 'a/empty > ', 'a/one > b/other', 'a/two > b/two'],
    ])
    const copied = { 'a/one': file('same'), 'b/one': file('same') }
    assert.deepEqual(await compared({ 'a/one': file('same') }, copied), [' > b/one'])
  })

  it('compare a file whose content was not read by size and time, in whole seconds', async () => {
    const kept = { big: file('hash', 9, 5_000) }
    assert.deepEqual(await compared(kept, { big: file(null, 9, 5_700) }), [])
    assert.deepEqual(await compared(kept, { big: file(null, 9, 6_000) }), ['big > big'])
    assert.deepEqual(await compared(kept, { big: file(null, 8, 5_000) }), ['big > big'])
  })

  it('are compared in seconds where thousands of files have one content', async () => {
    const many = (folder: string) =>
      Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`${folder}/${at}`, file('x')]))
    const began = processorMs()
    assert.equal((await compared(many('a'), many('b'))).length, 50_000)
    assert.ok(processorMs() - began < 5_000)
  })
})
