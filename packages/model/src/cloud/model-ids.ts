/** The ids that clouds have for the models of Anthropic, from the ids of Anthropic's own API. */
import { runOnce } from '@steward/base/shared-runs.ts'
import { loadBedrockIds } from '../wire/pi.ts'
import type { CloudLocation } from './access.ts'

const dated = /-(\d{8})$/

/** Ids of Bedrock, as `{prefix}anthropic.{model}{version}`. */
const bedrockIds = runOnce(async () =>
  (await loadBedrockIds()).flatMap((id) => {
    const [, prefix = '', model, version = ''] =
      /^((?:[a-z]+\.)?)anthropic\.(claude-.+?)(-v\d+(?::\d+)?)?$/.exec(id) ?? []
    return model === undefined ? [] : [{ prefix, model, version }]
  }),
)

type BedrockId = Awaited<ReturnType<typeof bedrockIds>>[number]

/** The entries of a model, also where one of the two names lacks the date. */
const entriesOf = (known: readonly BedrockId[], id: string): BedrockId[] => {
  const exact = known.filter(({ model }) => model === id)
  if (exact.length > 0) return exact
  return dated.test(id) ? [] : known.filter(({ model }) => model.replace(dated, '') === id)
}

/** The prefix of the inference profiles of a region's part of the world. */
function prefixOf(region: string): string {
  if (/^ap-southeast-[24]$/.test(region)) return 'au.'
  if (/^ap-northeast-[13]$/.test(region)) return 'jp.'
  const area = /^(us|eu|ca)-/.exec(region)?.[1]
  return area === 'eu' ? 'eu.' : area === 'us' || area === 'ca' ? 'us.' : 'global.'
}

/** `prefix`: in place of the one of the region; empty for the model itself, without an inference profile. */
export async function bedrockId(
  id: string,
  { region, prefix }: { region: string; prefix?: string | undefined },
): Promise<string> {
  const entries = entriesOf(await bedrockIds(), id)
  const { model, version } = entries[0] ?? { model: id, version: '' }
  const usual = prefixOf(region)
  const isKnown = entries.length === 0 || entries.some((each) => each.prefix === usual)
  return `${prefix ?? (isKnown ? usual : '')}anthropic.${model}${version}`
}

export async function vertexId(id: string): Promise<string> {
  const model = entriesOf(await bedrockIds(), id)[0]?.model ?? id
  return model.replace(dated, '@$1')
}

/** Foundry proposes the name of the model without its date as the name of a deployment. */
export const foundryId = (id: string): string => id.replace(dated, '')

export async function cloudModelId(
  place: CloudLocation,
  id: string,
  prefix?: string,
): Promise<string> {
  switch (place.type) {
    case 'bedrock':
      return bedrockId(id, { region: place.region, prefix })
    case 'vertex':
      return vertexId(id)
    case 'foundry':
      return foundryId(id)
  }
}

/** The id of Anthropic's own API within an id of a cloud; undefined for a model of another maker. */
export function claudeIdOf(id: string): string | undefined {
  const [, found] =
    /^(?:(?:[a-z]+\.)?anthropic\.)?(claude-[a-z0-9-]+?(?:@\d{8})?)(?:-v\d+(?::\d+)?)?$/.exec(id) ??
    []
  return found?.replace('@', '-')
}
