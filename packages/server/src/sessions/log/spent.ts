/** What a model request cost, kept beside the event that reports its usage. */
import { parseObject } from '@steward/base/json-object.ts'
import { computeCost } from '@steward/model/price.ts'
import type { LogEntry } from './log.ts'

/** `units`: millionths of a US dollar. Null: the model had no price. */
export type RequestCost = { model: string; units: number | null }

/** The `opaque` of an event that reports the usage of a model. Null for any other event. */
export function spentText({ event, model }: LogEntry): string | null {
  if (!model || !('model_usage' in event)) return null
  const units = model.price ? computeCost(event.model_usage, model.price) : null
  return JSON.stringify({ model: model.name, units } satisfies RequestCost)
}

/** Undefined for an event of before this was kept. */
export function spentIn(opaque: string | null): RequestCost | undefined {
  if (opaque === null) return undefined
  const { model, units } = parseObject(opaque)
  if (typeof model !== 'string' || (typeof units !== 'number' && units !== null)) return undefined
  return { model, units }
}
