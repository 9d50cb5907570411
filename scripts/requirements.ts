// Rewrites the manifest of requirements from docs/interface.md, which is its source.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readSpecification } from '../conformance/specification.ts'
import type { Requirement } from '../conformance/specification.ts'

const root = new URL('../', import.meta.url)
const at = (path: string) => new URL(path, root)

const text = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function entry([id, { section, says, deferred }]: [string, Requirement]): string {
  const mark = deferred === undefined ? '' : `, deferred: '${deferred}'`
  return `  ${text(id)}: { section: ${text(section)}, says: ${text(says)}${mark} },`
}

const slug = (title: string) => title.replace(/^\d+ /, '').toLowerCase().replaceAll(' ', '-')
const variable = (name: string) =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

const chapters = readSpecification(readFileSync(at('docs/interface.md'), 'utf8'))
rmSync(at('conformance/requirements'), { recursive: true, force: true })
mkdirSync(at('conformance/requirements'))
const names: string[] = []
for (const { title, requirements } of chapters) {
  const name = slug(title)
  names.push(name)
  const lines = [
    '// Written by scripts/requirements.ts from docs/interface.md.',
    "import type { Requirement } from '../specification.ts'",
    '',
    '// oxfmt-ignore',
    `export const ${variable(name)} = {`,
    ...[...requirements].map(entry),
    '} satisfies Record<string, Requirement>',
    '',
  ]
  writeFileSync(at(`conformance/requirements/${name}.ts`), lines.join('\n'))
}
names.sort()
const joined = [
  '// Written by scripts/requirements.ts from docs/interface.md.',
  ...names.map((name) => `import { ${variable(name)} } from './requirements/${name}.ts'`),
  "import type { Requirement } from './specification.ts'",
  '',
  'const all = {',
  ...names.map((name) => `  ...${variable(name)},`),
  '}',
  '',
  'export type RequirementId = keyof typeof all',
  '',
  '/** Every testable line of docs/interface.md by its id. */',
  'export const requirements: Record<RequirementId, Requirement> = all',
  '',
]
writeFileSync(at('conformance/requirements.ts'), joined.join('\n'))
