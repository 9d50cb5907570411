/**
 * Facts that rooms publish about their work, for listeners such as metrics or a log. A room does not know its
 * listeners, and publishing costs one comparison while nobody listens. All services of a process share an observation.
 */
import { channel } from 'node:diagnostics_channel'

export type Observation<Fact> = {
  /** False while nobody listens. Check it before building a costly fact. */
  isHeard(): boolean
  tell(fact: Fact): void
  /**
   * Calls `listener` with each fact, within the call of `tell`, until the returned function is called. Errors of the
   * listener go to `failed`, so that they end no process.
   */
  listen(listener: (fact: Fact) => void, failed: (error: unknown) => void): () => void
}

/** Creates an observation. `name`: unique in the process. */
export function createObservation<Fact extends object>(name: string): Observation<Fact> {
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

/** Listens to several observations with one handler of errors. */
export const listenWith =
  (failed: (error: unknown) => void) =>
  <Fact extends object>(facts: Observation<Fact>, listener: (fact: Fact) => void): (() => void) =>
    facts.listen(listener, failed)
