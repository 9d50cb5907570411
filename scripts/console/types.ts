/** The types of the console's requests, from the service's own description: the paths that its sources name, and what these need. */
import { globSync, readFileSync } from 'node:fs'
import openapiTypes, { astToString } from 'openapi-typescript'
import { z } from 'zod'
import { databases } from '@steward/server/ground/database/fixture.ts'
import { openApi } from '@steward/server/ground/http/openapi/openapi.ts'
import { routesOver } from '@steward/server/surfaces/v1/app-fixture.ts'
import { apiDescription } from '@steward/server/surfaces/v1/description.ts'
import { root } from '../house/sources.ts'

export const typesFile = `${root}packages/console/src/lib/api/openapi.gen.ts`

const Description = z.looseObject({
  paths: z.record(z.string(), z.unknown()),
  components: z.record(z.string(), z.record(z.string(), z.unknown())),
})
type Description = z.infer<typeof Description>

/** The paths of the description that a source names in quotes. */
function namedPaths(): Set<string> {
  const files = globSync('packages/console/src/**/*.{ts,tsx}', { cwd: root })
  const texts = files
    .filter((file) => !/\.(?:gen|test)\.ts$/.test(file))
    .map((file) => readFileSync(`${root}${file}`, 'utf8'))
  return new Set(
    texts.flatMap((text) => [...text.matchAll(/'(\/v1\/[^'\s]*)'/g)].map(([, path = '']) => path)),
  )
}

/** All references of a value, also those of what it refers to. */
function referencesOf(value: unknown, components: Description['components']): Set<string> {
  const found = new Set<string>()
  const search = (each: unknown): void => {
    for (const [, reference = ''] of JSON.stringify(each).matchAll(/"#\/components\/([^"]+)"/g)) {
      if (found.has(reference)) continue
      found.add(reference)
      const [kind = '', name = ''] = reference.split('/')
      search(components[kind]?.[name] ?? null)
    }
  }
  search(value)
  return found
}

/** Any JSON is a type that names itself, which TypeScript does not take here: it becomes `unknown`. */
const withoutCircle = (components: Description['components']): Description['components'] => ({
  ...components,
  schemas: { ...components['schemas'], JsonValue: {} },
})

/** Throws for a path that the service does not have. */
function partOf({ paths, components, ...rest }: Description): Description {
  const named = [...namedPaths()].toSorted()
  const absent = named.filter((path) => !(path in paths))
  if (absent.length > 0)
    throw new Error(`the service has no ${absent.join(', ')}, which the console's sources name`)
  const kept = Object.fromEntries(named.map((path) => [path, paths[path]]))
  const references = referencesOf(kept, components)
  for (const name of ['SessionEvent', 'LiveSessionEvent'])
    for (const each of [
      `schemas/${name}`,
      ...referencesOf(components['schemas']?.[name], components),
    ])
      references.add(each)
  const needed = Object.entries(components).map(([kind, all]) => [
    kind,
    Object.fromEntries(Object.entries(all).filter(([name]) => references.has(`${kind}/${name}`))),
  ])
  const { securitySchemes } = components
  return {
    ...rest,
    paths: kept,
    components: withoutCircle({ ...Object.fromEntries(needed), securitySchemes }),
  }
}

export async function consoleTypes(): Promise<string> {
  await using opened = await databases.sqlite()
  const whole = openApi(routesOver(opened.database), '1', apiDescription)
  const part = partOf(Description.parse(JSON.parse(JSON.stringify(whole))))
  const types = await openapiTypes(JSON.stringify(part))
  return `// Written by: node scripts/console-types.ts\n${astToString(types)}`
}
