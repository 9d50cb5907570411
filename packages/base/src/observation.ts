/**
 * Facts that rooms tell of their work, for whoever counts them: metrics, a log. A room knows none of its listeners, and telling costs
 * one comparison while nobody listens. All services of a process share an observation.
 */
import { channel } from 'node:diagnostics_channel'

export type Observation<Fact> = {
  /** False while nobody listens: a fact that costs something to make need not be made. */
  isHeard(): boolean
  tell(fact: Fact): void
  /** Calls `listener` with each fact, in the call that tells it, until the returned function is called. */
  listen(listener: (fact: Fact) => void): () => void
}

/** `name`: unique in the process. */
export function observation<Fact extends object>(name: string): Observation<Fact> {
  const facts = channel(`steward.${name}`)
  return {
    isHeard: () => facts.hasSubscribers,
    tell(fact) {
      if (facts.hasSubscribers) facts.publish(fact)
    },
    listen(listener) {
      const onFact = (fact: unknown) => listener(fact as Fact)
      facts.subscribe(onFact)
      return () => {
        facts.unsubscribe(onFact)
      }
    },
  }
}
