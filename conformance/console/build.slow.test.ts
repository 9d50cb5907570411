import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { z } from 'zod'
import { consoleTypes, typesFile } from '../../scripts/console/types.ts'
import { root } from '../../scripts/house/sources.ts'
import { buildConsole } from './browser.ts'

const dist = `${root}packages/console/dist/`
const Manifest = z.record(
  z.string(),
  z.looseObject({
    file: z.string(),
    name: z.string().optional(),
    imports: z.array(z.string()).optional(),
    isEntry: z.boolean().optional(),
  }),
)

/** Bytes of script by gzip, before the page of sessions can be used. */
const firstScriptBytes = 160 * 1024
/** Bytes by gzip of a part that is loaded when it is first shown. */
const partBytes = 60 * 1024

void describe('the build of the console', () => {
  let manifest: z.infer<typeof Manifest>
  before(async () => {
    await buildConsole()
    manifest = Manifest.parse(JSON.parse(readFileSync(`${dist}.vite/manifest.json`, 'utf8')))
  })

  /** The parts that these parts load at once, with themselves. */
  function withImports(names: readonly string[], found = new Set<string>()): Set<string> {
    for (const name of names) {
      if (found.has(name)) continue
      found.add(name)
      withImports(manifest[name]?.imports ?? [], found)
    }
    return found
  }
  const sizeOf = (names: Iterable<string>): number =>
    [...new Set([...names].map((name) => manifest[name]?.file ?? ''))]
      .filter((file) => file.endsWith('.js'))
      .reduce((sum, file) => sum + gzipSync(readFileSync(dist + file)).length, 0)

  /** What a browser loads before the list of sessions. */
  function firstParts(): Set<string> {
    const all = Object.keys(manifest)
    const named = ['routes/_app.tsx', 'routes/_app.sessions.index.tsx']
    return withImports(
      all.filter(
        (each) => manifest[each]?.isEntry || named.some((route) => each.includes(`/${route}`)),
      ),
    )
  }

  void it('loads no more than 160 KB of script before the list of sessions', () => {
    const bytes = sizeOf(firstParts())
    assert.ok(bytes > 50_000, 'the parts of the list were found')
    assert.ok(bytes <= firstScriptBytes, `${Math.round(bytes / 1024)} KB`)
  })

  void it('has separate chunks for parts that are not shown at first', () => {
    const first = firstParts()
    for (const part of ['palette', 'menu', 'markdown', 'plot-canvas', 'drawer', 'toaster']) {
      const found = Object.keys(manifest).find((each) => manifest[each]?.name === part)
      assert.ok(found, `${part} is a part of its own`)
      assert.ok(!first.has(found), `${part} is loaded at first`)
      assert.ok(sizeOf([found]) <= partBytes, part)
    }
  })

  void it('is written against the interface as it is: node scripts/console-types.ts', async () => {
    assert.equal(readFileSync(typesFile, 'utf8'), await consoleTypes())
  })
})
