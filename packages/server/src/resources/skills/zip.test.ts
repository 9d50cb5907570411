import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PlatformError } from '../../ground/core/errors.ts'
import { buildBundle, largestBundle, mostFiles } from './bundle.ts'
import { readPackedFiles, readZip, packZip } from './zip.ts'
import type { OddEntry } from './zip-fixture.ts'
import { oddZip, skillText } from './zip-fixture.ts'

const skill: OddEntry = { name: 'a/SKILL.md', bytes: skillText('a') }
const open = async (...entries: OddEntry[]) => buildBundle(await readZip(oddZip(entries)))
const refused = (entries: OddEntry[], words: RegExp) =>
  assert.rejects(open(...entries), (error) => {
    assert.ok(error instanceof PlatformError, String(error))
    assert.match(error.message, words)
    return true
  })

describe('archives of strangers', () => {
  it('are taken with their folder and their executables, and without their litter', async () => {
    const { name, directory, files } = await open(
      { name: 'my-folder/', mode: 0o040755 },
      { name: 'my-folder/SKILL.md', bytes: skillText('a') },
      { name: 'my-folder/run.sh', bytes: '#!/bin/sh\n', mode: 0o100755 },
      { name: '__MACOSX/my-folder/._SKILL.md', bytes: 'x' },
      { name: 'my-folder/.DS_Store', bytes: 'x' },
    )
    assert.deepEqual([name, directory], ['a', 'my-folder'])
    assert.deepEqual(
      files.map(({ path, executable }) => [path, executable]),
      [
        ['SKILL.md', false],
        ['run.sh', true],
      ],
    )
  })

  it('are taken with backslashes, names of UTF-8 that do not say so, and a dot before them', async () => {
    const { directory, files } = await open(
      { name: './my-folder\\SKILL.md', bytes: skillText('a'), flags: 0 },
      { name: 'my-folder\\ä.txt', bytes: 'x', flags: 0 },
      { name: 'desktop.ini', bytes: 'x' },
    )
    assert.equal(directory, 'my-folder')
    assert.deepEqual(
      files.map(({ path }) => path),
      ['SKILL.md', 'ä.txt'],
    )
  })

  it('are refused for names that lead elsewhere', async () => {
    for (const name of [
      '../evil',
      'a/../../evil',
      '/etc/passwd',
      'C:/evil',
      'a\\..\\evil',
      'a//b',
      'a/./b',
      'a/\u0001',
      'a/\u202e.md',
      '',
      `a/${'x'.repeat(256)}`,
      `a/${'b/'.repeat(16)}c`,
      `a/${'long/'.repeat(3)}${'x'.repeat(250)}/${'y'.repeat(250)}`,
    ])
      await refused([skill, { name, bytes: 'x' }], /name|path|part|characters|bytes/)
  })

  it('are refused for links, devices, encryption and strange packing', async () => {
    for (const mode of [0o120777, 0o020666, 0o060666, 0o010666, 0o140777])
      await refused([skill, { name: 'a/x', bytes: '/etc/passwd', mode }], /link or a device/)
    await refused([skill, { name: 'a/x', bytes: 'x', flags: 0x801 }], /encrypted/)
    await refused([skill, { name: 'a/x', bytes: 'x', method: 12 }], /packed in a way/)
    await refused([skill, { name: 'a/x/', bytes: 'x', mode: 0o040755 }], /folder with bytes/)
  })

  it('are refused for two roots, names twice, and names that are files and folders', async () => {
    await refused([skill, { name: 'b/x', bytes: 'x' }], /one folder/)
    await refused([skill, { name: 'x', bytes: 'x' }], /one folder/)
    await refused([skill, skill], /twice/)
    const both = [
      { name: 'a/x', bytes: 'x' },
      { name: 'a/x/y', bytes: 'y' },
    ]
    await refused([skill, ...both], /a file and a folder/)
    for (const [one, other] of [
      ['a/Read.me', 'a/rEAD.ME'],
      ['a/caf\u00e9', 'a/cafe\u0301'],
      ['a/Docs/x', 'a/docs'],
      ['a/Docs/x', 'a/docs/y'],
      ['a/\u017ftrong', 'a/strong'],
    ] as const)
      await refused([skill, { name: one, bytes: 'x' }, { name: other, bytes: 'y' }], /one name/)
    await refused([{ name: 'a/x', bytes: 'x' }], /no SKILL\.md/)
    await refused([], /SKILL\.md/)
  })

  it('are refused for growing too much, and for fields that contradict their content', async () => {
    const zeros = Buffer.alloc(8 * 1024 * 1024)
    await refused([skill, { name: 'a/zeros', bytes: zeros }], /would grow/)
    const large = Array.from({ length: 5 }, (_, i) => ({
      name: `a/${i}`,
      bytes: zeros,
      method: 0,
    }))
    await refused([skill, ...large], new RegExp(`at most ${largestBundle} bytes`))
    await refused([skill, { name: 'a/x', bytes: zeros, says: { size: 10 } }], /cannot be read/)
    await refused([skill, { name: 'a/x', bytes: 'x', says: { size: 10 } }], /cannot be read/)
    await refused([skill, { name: 'a/x', bytes: 'x', says: { crc: 1 } }], /damaged/)
    await refused([skill, { name: 'a/x', bytes: '', says: { size: 0xffffffff } }], /at most|read/)
  })

  it('have as many files as a skill may have, and not one more', async () => {
    const files = (count: number) =>
      Array.from({ length: count - 1 }, (_, i) => ({ name: `a/${i}`, bytes: 'x' }))
    assert.equal((await open(skill, ...files(mostFiles))).files.length, mostFiles)
    await refused([skill, ...files(mostFiles + 1)], new RegExp(`at most ${mostFiles} files`))
    const folders = Array.from({ length: 5000 }, (_, i) => ({ name: `a/${i}/`, mode: 0o040755 }))
    await refused([skill, ...folders], new RegExp(`at most ${mostFiles} files`))
  })

  it('that are cut or scrambled are refused, whatever is in them', async () => {
    const whole = oddZip([skill, { name: 'a/x', bytes: 'body '.repeat(100) }])
    let seed = 7
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
    for (let round = 0; round < 400; round++) {
      const archive = Buffer.from(whole)
      if (round % 4 === 0) archive.fill(0, random(archive.length))
      for (let change = 0; change < 1 + (round % 5); change++)
        archive[random(archive.length)] = random(256)
      const cut = round % 3 === 0 ? archive.subarray(0, random(archive.length)) : archive
      const read = readZip(Buffer.from(cut)).then(buildBundle)
      await read.catch((error: unknown) => {
        assert.ok(error instanceof PlatformError, String((error as Error).stack))
      })
    }
  })
})

describe('our own archives', () => {
  it('are the same bytes for the same files, and come back as they were', async () => {
    const { name, files } = await open(skill, { name: 'a/b/run', bytes: 'x', mode: 0o100755 })
    const archive = await packZip({ name, files })
    assert.ok(archive.equals(await packZip({ name, files })))
    const back = await readPackedFiles(archive)
    assert.deepEqual(
      back.map(({ path, bytes, executable }) => [path, String(bytes), executable]),
      files.map(({ path, bytes, executable }) => [path, String(bytes), executable]),
    )
    assert.equal((await readPackedFiles(archive, (path) => path === 'b/run')).length, 1)
  })
})
