/**
 * Facts that rooms tell of their work, for whoever counts them: metrics, a log. A room knows none of its listeners, and telling costs
 * one comparison while nobody listens. All services of a process share an observation.
 */
import { channel } from 'node:diagnostics_channel'

export type Observation<Fact> = {
  /** False while nobody listens: a fact that costs something to make need not be made. */
  isHeard(): boolean
  tell(fact: Fact): void
  /**
   * Calls `listener` with each fact, in the call that tells it, until the returned function is called. What it throws goes
   * to `failed`: a fact that cannot be counted must end no process.
   */
  listen(listener: (fact: Fact) => void, failed: (error: unknown) => void): () => void
}

/** `name`: unique in the process. */
export function observation<Fact extends object>(name: string): Observation<Fact> {
  const facts = channel(`steward.${name}`)
  return {
    isHeard: () => facts.hasSubscribers,
    tell(fact) {
      if (facts.hasSubscribers) facts.publish(fact)
    },
    listen(listener, failed) {
      function onFact(fact: unknown): void {
        try {
          listener(fact as Fact)
        } catch (error) {
          failed(error)
        }
      }
      facts.subscribe(onFact)
      return () => {
        facts.unsubscribe(onFact)
      }
    },
  }
}

/** Listens to several observations, with one place for what cannot be counted. */
export const listenWith =
  (failed: (error: unknown) => void) =>
  <Fact extends object>(facts: Observation<Fact>, listener: (fact: Fact) => void): (() => void) =>
    facts.listen(listener, failed)
