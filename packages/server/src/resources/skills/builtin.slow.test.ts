import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { PDFDocument } from 'pdf-lib'
import { systemClock } from '@steward/base/time.ts'
import { builtinDigits, readBuiltinSkills } from './builtin.ts'
import { unpackedSkills } from './unpacked-skills.ts'
import { readPackedFiles, readZip } from './zip.ts'

const run = promisify(execFile)

/** 3 by 2 pixels. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAD0lEQVR4nGNoUFAAIgYIBQAVEgLhkOOv/gAAAABJRU5ErkJggg==',
  'base64',
)

const markdown = `# Report & more

A **bold** word, *italic*, \`code\` and a [link](https://host.example/?a=1&b=2). {{name}} signs.

- one
  - deeper
1. first
2. second

| A | B |
|---|---|
| 1 | x < y |

![A picture](p.png)
`

/** The hash of all contents, by version: two servers with the same version have the same contents. */
const contents: Record<string, string> = {
  '1795219200000000': '94b48c43662153309c03b20db927931586b179a6c6c72c37e0d2658ab29c1e65',
}

it('have another version whenever their contents are others', async () => {
  const hash = createHash('sha256')
  for (const [id, { archive, version }] of await readBuiltinSkills()) {
    assert.equal(version.id, `skver_${builtinDigits}`)
    for (const { path, bytes } of await readPackedFiles(archive))
      hash.update(`${id}/${path}\0`).update(bytes)
  }
  const found = hash.digest('hex')
  const how = `raise changedAtMs in the file of the built-in programs, and write down here that ${builtinDigits} is ${found}`
  assert.equal(contents[builtinDigits], found, how)
})

describe('built-in skills, as they are mounted', () => {
  let folder: string
  let hosts: Map<string, string>
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-builtin-'))
    const all = await readBuiltinSkills()
    const unpacked = unpackedSkills({
      catalog: {
        files: async (_, row) => readPackedFiles(all.get(row.skill_id)?.archive as Buffer),
      },
      clock: systemClock,
      folder: join(folder, 'skills'),
    })
    hosts = new Map()
    for (const [id, { version }] of all) hosts.set(id, await unpacked.folderOf('', version))
    await writeFile(join(folder, 'p.png'), png)
    await writeFile(join(folder, 'a.md'), markdown)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const write = (name: string, content: unknown) =>
    writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))

  /** Runs the program of a skill with nothing but Node, and returns its output. */
  async function script(name: string, ...args: string[]): Promise<string> {
    const path = join(hosts.get(name) ?? '', 'scripts', `${name}.mjs`)
    const options = { cwd: folder, env: { PATH: '' } }
    return (await run(process.execPath, [path, ...args], options)).stdout
  }
  const json = async <T>(...args: Parameters<typeof script>): Promise<T> =>
    JSON.parse(await script(...args)) as T
  const refused = (words: RegExp, ...args: Parameters<typeof script>) =>
    assert.rejects(script(...args), (error: { code: number; stderr: string }) => {
      assert.equal(error.code, 1)
      assert.match(error.stderr, words)
      assert.equal(error.stderr.trim().split('\n').length <= 2, true, error.stderr)
      return true
    })

  /**
   * The parts of an office file by name. Asserts that each XML part is complete and that each relation leads to a part.
   */
  async function partsOf(file: string): Promise<Map<string, string>> {
    const files = await readZip(await readFile(join(folder, file)))
    const parts = new Map(files.map(({ path, bytes }) => [path, String(bytes)]))
    assert.equal(parts.size, files.length)
    const types = parts.get('[Content_Types].xml') ?? ''
    for (const [path, text] of parts) {
      if (!/\.(xml|rels)$/.test(path)) continue
      assert.match(text, /^<\?xml [^>]*\?>\s*<[^]*>$/)
      const isTyped = path.endsWith('.rels') || types.includes(`"/${path}"`)
      assert.ok(isTyped || path === '[Content_Types].xml', path)
      if (!path.endsWith('.rels')) continue
      const from = path.replace('_rels/', '').replace(/[^/]*$/, '')
      for (const [each, target] of text.matchAll(/<Relationship [^>]*?Target="([^"]+)"[^>]*>/g)) {
        if (each.includes('TargetMode="External"')) continue
        const { pathname } = new URL(target ?? '', `http://x/${from}`)
        assert.ok(parts.has(pathname.slice(1)), `${path} leads to ${target}`)
      }
    }
    return parts
  }

  it('say how each of their commands is used', async () => {
    for (const name of hosts.keys()) {
      const help = await script(name, '--help')
      const skill = await readFile(join(hosts.get(name) ?? '', 'SKILL.md'), 'utf8')
      for (const [, command] of skill.matchAll(new RegExp(`${name}\\.mjs (\\w+) `, 'g')))
        assert.match(help, new RegExp(`^${name}\\.mjs ${command} `, 'm'))
      assert.match(await script(name, 'create', '--help'), /create FILE --from/)
      await refused(/no command fly/, name, 'fly')
      await refused(/usage: .* create FILE/, name, 'create')
      await refused(/usage: .* create FILE/, name, 'create', 'x', '--colour')
      await refused(/cannot be read|ENOENT/, name, 'info', 'nothing-here')
    }
  })

  it('xlsx: rows come back with dates, formulas and types, and the rest stays as it was', async () => {
    const rows = [
      ['Day', 'Units', 'Text'],
      [{ date: '2026-01-31' }, { value: 1234.5, format: '#,##0.00' }, ' a & "b" <c>\n'],
      [{ date: '1999-12-31T23:59:59' }, '=SUM(B2:B2)', true],
      [null, 0, '007'],
    ]
    const people = [
      { name: 'A', x: 1 },
      { name: 'B', y: 'é' },
    ]
    await write('a.json', {
      sheets: [
        { name: 'Sales', header: true, rows },
        { name: 'People', rows: people },
      ],
    })
    await script('xlsx', 'create', 'a.xlsx', '--from', 'a.json')
    const read = (...more: string[]) =>
      json<unknown>('xlsx', 'read', 'a.xlsx', '--format', 'json', ...more)
    assert.deepEqual(await read('--formulas'), [
      ['Day', 'Units', 'Text'],
      ['2026-01-31', 1234.5, ' a & "b" <c>\n'],
      ['1999-12-31T23:59:59', '=SUM(B2:B2)', true],
      [null, 0, '007'],
    ])
    assert.deepEqual(
      await json('xlsx', 'read', 'a.xlsx', '--sheet', 'People', '--format', 'records'),
      [
        { name: 'A', x: 1, y: null },
        { name: 'B', x: null, y: 'é' },
      ],
    )
    const parts = await partsOf('a.xlsx')
    assert.match(parts.get('xl/worksheets/sheet1.xml') ?? '', /<f>SUM\(B2:B2\)<\/f>/)
    await script('xlsx', 'set', 'a.xlsx', 'B2=7', 'AA30=far', 'C4==B2*2', '--out', 'b.xlsx')
    assert.equal(await script('xlsx', 'read', 'b.xlsx', '--range', 'B2:B2'), '7\n')
    assert.equal(await script('xlsx', 'read', 'b.xlsx', '--range', 'AA30'), 'far\n')
    const after = await partsOf('b.xlsx')
    assert.equal(after.get('xl/worksheets/sheet2.xml'), parts.get('xl/worksheets/sheet2.xml'))
    assert.match(after.get('xl/workbook.xml') ?? '', /fullCalcOnLoad="1"/)
    await write('m.csv', 'k,v\n"a ""q"", b",2026-02-03\n0012,1e3\n')
    await script('xlsx', 'write', 'b.xlsx', '--from', 'm.csv', '--sheet', 'People', '--append')
    const csv = await script('xlsx', 'read', 'b.xlsx', '--sheet', 'People', '--range', 'A4:B6')
    assert.equal(csv, 'k,v\n"a ""q"", b",2026-02-03\n0012,1000\n')
    await refused(
      /no sheet Nope; there are: Sales, People/,
      'xlsx',
      'read',
      'b.xlsx',
      '--sheet',
      'Nope',
    )
    await refused(/no cell such as B3/, 'xlsx', 'set', 'b.xlsx', 'XFE1=1')
    await refused(/not an Office file/, 'xlsx', 'info', 'a.md')
  })

  it('xlsx: fifty thousand rows take seconds', async () => {
    const lines = Array.from({ length: 50_000 }, (_, i) => `${i},row ${i},${i / 2}`)
    await write('big.csv', lines.join('\n'))
    await script('xlsx', 'create', 'big.xlsx', '--from', 'big.csv')
    const last = await script('xlsx', 'read', 'big.xlsx', '--range', 'A50000:C50000')
    assert.equal(last, '49999,row 49999,24999.5\n')
  })

  it('docx: Markdown becomes a document and comes back; words are replaced over runs', async () => {
    await script('docx', 'create', 'a.docx', '--from', 'a.md')
    const parts = await partsOf('a.docx')
    assert.ok(parts.has('word/media/image1.png'))
    const text = await script('docx', 'text', 'a.docx')
    for (const words of [
      '# Report & more',
      'A **bold** word, *italic*, code and a [link](https://host.example/?a=1&b=2).',
      '- one\n  - deeper\n1. first\n1. second',
      '| 1 | x < y |',
      '[picture]',
    ])
      assert.ok(text.includes(words), `${words} in ${text}`)
    const info = await json<Record<string, unknown>>('docx', 'info', 'a.docx')
    assert.deepEqual([info['tables'], info['pictures'], info['tracked_changes']], [1, 1, 0])
    await script('docx', 'replace', 'a.docx', 'A bold word', 'A *new* word', '--out', 'b.docx')
    assert.match(await script('docx', 'text', 'b.docx'), /A \*new\* word,/)
    await script('docx', 'append', 'b.docx', '--from', 'a.md')
    const twice = await script('docx', 'text', 'b.docx')
    assert.equal(twice.match(/# Report & more/g)?.length, 2)
    await partsOf('b.docx')
    await refused(/is not in a\.docx/, 'docx', 'replace', 'a.docx', 'nowhere', 'x')
    await script('xlsx', 'create', 'x.xlsx', '--from', 'm.csv')
    await refused(/x\.xlsx is no \.docx/, 'docx', 'text', 'x.xlsx')
  })

  it('pptx: slides with tables, pictures and notes come back, are put in order and cut', async () => {
    const rest = markdown.replace('# Report', '# Second')
    await write('s.md', `# Title\n\nWho\n\n---\n\n${rest}\nNotes: say {{this}}\n\n---\n\n# Last\n`)
    await script('pptx', 'create', 'a.pptx', '--from', 's.md')
    await partsOf('a.pptx')
    const text = await script('pptx', 'text', 'a.pptx')
    assert.match(text, /^## Slide 1: Title\n- Who\n\n## Slide 2: Second & more\n/)
    for (const words of [
      '  - deeper',
      '| 1 | x < y |',
      '[picture: A picture]',
      'Notes: say {{this}}',
    ])
      assert.ok(text.includes(words), `${words} in ${text}`)
    await script('pptx', 'replace', 'a.pptx', '{{this}}', 'that')
    assert.match(await script('pptx', 'text', 'a.pptx', '--slides', '2'), /Notes: say that/)
    await script('pptx', 'order', 'a.pptx', '3,1', '--out', 'b.pptx')
    const titles = await json<{ title: string }[]>('pptx', 'info', 'b.pptx')
    assert.deepEqual(
      titles.map(({ title }) => title),
      ['Last', 'Title'],
    )
    const parts = await partsOf('b.pptx')
    assert.ok(!parts.has('ppt/slides/slide2.xml') && !parts.has('ppt/notesSlides/notesSlide2.xml'))
    await refused(/4 is not within 1-3/, 'pptx', 'order', 'a.pptx', '4')
    await refused(/once only/, 'pptx', 'order', 'a.pptx', '1,1')
  })

  it('pdf: pages are written and read, joined, cut and turned', async () => {
    await write('p.md', `${markdown}\n---\n\n# Second page\n\n${'many words '.repeat(2000)}`)
    await script('pdf', 'create', 'a.pdf', '--from', 'p.md', '--numbers', '--title', 'It is é')
    const info = await json<Record<string, unknown>>('pdf', 'info', 'a.pdf')
    assert.deepEqual([info['title'], info['pages']], ['It is é', 7])
    const text = await script('pdf', 'text', 'a.pdf', '--pages', '1-2')
    for (const words of [
      'Report & more\n',
      'A bold word, italic, code and a link.',
      '1\tx < y',
      'Second page',
    ])
      assert.ok(text.includes(words), `${words} in ${text}`)
    await script('pdf', 'merge', 'b.pdf', 'a.pdf', 'a.pdf')
    await script('pdf', 'pages', 'b.pdf', '9,1', '--out', 'c.pdf')
    await script('pdf', 'rotate', 'c.pdf', '90', '--pages', '1')
    await script('pdf', 'stamp', 'c.pdf', 'DRAFT')
    const pages = await json<{ text: string }[]>('pdf', 'text', 'c.pdf', '--json')
    assert.equal(pages.length, 2)
    assert.match(pages[0]?.text ?? '', /Second page/)
    assert.match(pages[1]?.text ?? '', /DRAFT/)
    const pdf = await PDFDocument.load(await readFile(join(folder, 'c.pdf')))
    assert.deepEqual(
      pdf.getPages().map((page) => page.getRotation().angle),
      [90, 0],
    )
    await write('n.md', 'x → y')
    await refused(
      /→ \(U\+2192\) is in no standard font/,
      'pdf',
      'create',
      'n.pdf',
      '--from',
      'n.md',
    )
    await script('pdf', 'create', 'n.pdf', '--from', 'n.md', '--replace')
    assert.match(await script('pdf', 'text', 'n.pdf'), /x \? y/)
    await refused(/no PDF that can be read/, 'pdf', 'info', 'a.md')
  })

  it('pdf: forms are described and filled', async () => {
    const pdf = await PDFDocument.create()
    const page = pdf.addPage()
    const form = pdf.getForm()
    form.createTextField('name').addToPage(page, { x: 50, y: 700 })
    form.createCheckBox('ok').addToPage(page, { x: 50, y: 600 })
    const kind = form.createDropdown('kind')
    kind.addOptions(['a', 'b'])
    kind.addToPage(page, { x: 50, y: 500 })
    await writeFile(join(folder, 'form.pdf'), await pdf.save())
    await write('v.json', { name: 'Filled in', ok: true, kind: 'b' })
    await script('pdf', 'fill', 'form.pdf', '--values', 'v.json', '--out', 'filled.pdf')
    const fields = await json<{ name: string; value: unknown }[]>('pdf', 'fields', 'filled.pdf')
    assert.deepEqual(
      fields.map(({ name, value }) => [name, value]),
      [
        ['name', 'Filled in'],
        ['ok', true],
        ['kind', ['b']],
      ],
    )
    await script('pdf', 'fill', 'form.pdf', '--values', 'v.json', '--flat', '--out', 'flat.pdf')
    assert.match(await script('pdf', 'text', 'flat.pdf'), /Filled in/)
    assert.deepEqual(await json('pdf', 'fields', 'flat.pdf'), [])
    await write('v.json', { kind: 'z' })
    await refused(/kind: z is none of: a, b/, 'pdf', 'fill', 'form.pdf', '--values', 'v.json')
    await write('v.json', { other: 'z' })
    await refused(
      /no field other; there are: name/,
      'pdf',
      'fill',
      'form.pdf',
      '--values',
      'v.json',
    )
  })
})
