import type { Notice } from '../core/notice.ts'
import type { Bus } from './bus.ts'

/** Publishes a notice that a unit has collected, when the unit is committed. */
export const publishNotice = (bus: Bus, { topic, message, isLive = false }: Notice): void =>
  (isLive ? bus.live : bus).publish(topic, message)
