/** Packages that environments install, and the grammar of package names for each manager. */
import { z } from 'zod'

/** The managers in the order in which they run. */
export const packageManagers = ['apt', 'cargo', 'gem', 'go', 'npm', 'pip'] as const
export type PackageManager = (typeof packageManagers)[number]
export type PackageLists = Record<PackageManager, string[]>

/**
 * A name in a registry, with an optional version. The grammar excludes options, paths, addresses and other sources, so
 * that all software comes from the registry.
 */
const grammars: Record<PackageManager, { pattern: RegExp; form: string }> = {
  apt: {
    pattern: /^[a-z0-9][a-z0-9.+-]*[a-z0-9+](:[a-z0-9]+)?(=[A-Za-z0-9][A-Za-z0-9.+:~-]*)?$/,
    form: 'a package name such as jq or jq=1.6-2.1',
  },
  cargo: {
    pattern: /^[A-Za-z][A-Za-z0-9_-]*(@[~^=<>]{0,2}[0-9][A-Za-z0-9.+*-]*)?$/,
    form: 'a crate name such as ripgrep or ripgrep@14.1.0',
  },
  gem: {
    pattern: /^[A-Za-z0-9_][A-Za-z0-9._-]*(:[0-9][A-Za-z0-9.-]*)?$/,
    form: 'a gem name such as rake or rake:13.2.1',
  },
  go: {
    pattern:
      /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+(\/[A-Za-z0-9_~][A-Za-z0-9._~-]*)*(@[A-Za-z0-9][A-Za-z0-9.+-]*)?$/,
    form: 'a package path such as example.com/cmd/tool or example.com/cmd/tool@v1.2.3',
  },
  npm: {
    pattern:
      /^(@[A-Za-z0-9~][A-Za-z0-9._~-]*\/)?[A-Za-z0-9~][A-Za-z0-9._~-]*(@[~^=<>]{0,2}[A-Za-z0-9*][A-Za-z0-9.*+-]*)?$/,
    form: 'a package name such as prettier, @scope/name or prettier@3.6.2',
  },
  pip: {
    pattern:
      /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(\[[A-Za-z0-9._-]+(,[A-Za-z0-9._-]+)*\])?((===|[=~!<>]=|[<>])[A-Za-z0-9][A-Za-z0-9.*+!_-]*(,([=~!<>]=|[<>])[A-Za-z0-9][A-Za-z0-9.*+!_-]*)*)?$/,
    form: 'a package name such as rich, rich==14.0.0 or rich>=13,<15',
  },
}

const mostPackages = 100
const longestName = 200

const listOf = (manager: PackageManager) => {
  const { pattern, form } = grammars[manager]
  return z
    .array(z.string().max(longestName).regex(pattern, `must be ${form}`))
    .max(mostPackages)
    .nullish()
    .describe(`At most ${mostPackages}, each ${form}.`)
}

export const Packages = z
  .strictObject({
    type: z.literal('packages').optional(),
    apt: listOf('apt'),
    cargo: listOf('cargo'),
    gem: listOf('gem'),
    go: listOf('go'),
    npm: listOf('npm'),
    pip: listOf('pip'),
  })
  .meta({
    id: 'Packages',
    description:
      "Packages that are installed before the first command, by their names in the manager's registry.",
  })
export type Packages = z.infer<typeof Packages>
