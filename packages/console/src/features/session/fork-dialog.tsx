/** Begins another session with the history of this one, up to an event. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { Problem, Quiet, Stack } from '../../components/layout.tsx'
import { agentChoices } from '../../lib/api/choices.ts'
import { api, dataOf } from '../../lib/api/client.ts'
import type { Session } from '../../lib/api/types.ts'
import { formatCount } from '../../lib/format/numbers.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { words } from '../../lib/words.ts'

const { fork: own } = words.session

type ForkDialogProps = {
  session: Session
  /** The last event that both will have; without it, the newest. */
  seq: number | undefined
  title: string
  onForked: (id: string) => void
  onClose: () => void
}

const same = 'same'

export function ForkDialog({ session, seq, title, onForked, onClose }: ForkDialogProps) {
  const { data: agents } = useQuery(agentChoices)
  const [name, setName] = useState(own.titleOf(title))
  const [agent, setAgent] = useState(same)
  const client = useQueryClient()
  const readOnly = useReadOnlyReason()
  const fork = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/v1/ext/sessions/{id}/fork', {
          params: { path: { id: session.id } },
          body: {
            ...(seq !== undefined && { at_seq: seq }),
            ...(name.trim() !== '' && { title: name.trim() }),
            ...(agent !== same && { agent }),
          },
        }),
      ),
    onSuccess: ({ id }) => {
      void client.invalidateQueries({ queryKey: ['sessions', 'list'] })
      onForked(id)
    },
  })
  return (
    <Dialog
      title={own.title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button
            kind="primary"
            isBusy={fork.isPending}
            offBecause={readOnly}
            onClick={() => fork.mutate()}
          >
            {own.verb}
          </Button>
        </>
      }
    >
      <Stack>
        <Quiet>{seq === undefined ? own.atEnd : own.at(formatCount(seq))}</Quiet>
        <Field label={own.name} value={name} onChange={setName} />
        <Combobox
          label={own.agent}
          none={own.noAgents}
          choices={[
            { value: same, label: own.sameAgent(session.agent.name, session.agent.version) },
            ...(agents ?? []).map(({ id, name: label, version }) => ({
              value: id,
              label,
              beside: `@${version}`,
            })),
          ]}
          value={agent}
          onChange={setAgent}
        />
        <Problem text={fork.error?.message} />
      </Stack>
    </Dialog>
  )
}
