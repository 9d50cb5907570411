import type { Effort, Speed } from './model.ts'

export const efforts: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max']
const levels = ['minimal', ...efforts] as const
export type EffortLevel = (typeof levels)[number]

type ThinkingLevels = { reasoning?: boolean; thinkingLevelMap?: Record<string, string | null> }

/** Returns the supported levels. The two highest levels are supported only when the model names them. */
export function supportedLevels({ reasoning, thinkingLevelMap }: ThinkingLevels): EffortLevel[] {
  if (reasoning !== true) return []
  return levels.filter((level) => {
    const word = thinkingLevelMap?.[level]
    return level === 'xhigh' || level === 'max' ? typeof word === 'string' : word !== null
  })
}

/** The nearest supported level, the lower one of two equally near; undefined when the model has no thinking. */
export function clampEffort(model: ThinkingLevels, effort: Effort): EffortLevel | undefined {
  const wanted = levels.indexOf(effort)
  const distance = (level: EffortLevel) => Math.abs(levels.indexOf(level) - wanted)
  return supportedLevels(model).reduce<EffortLevel | undefined>(
    (best, level) => (best === undefined || distance(level) < distance(best) ? level : best),
    undefined,
  )
}

/** The reason why the provider does not offer this speed; undefined when the provider does. */
export function refuseSpeed(provider: string, api: string, speed: Speed): string | undefined {
  if (speed === 'standard') return undefined
  if (['anthropic', 'ant'].includes(provider) && api === 'anthropic-messages') return undefined
  if (['openai', 'oai'].includes(provider) && api.startsWith('openai-')) return undefined
  return `speed 'fast' is not supported by provider '${provider}' over ${api}`
}
