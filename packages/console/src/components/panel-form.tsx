/** A form in a panel, beside what it will send: for what is made or changed without a page of its own. */
import type { ReactNode } from 'react'
import type { ApiCall } from '../lib/request/api-call.ts'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { Problem } from './layout.tsx'
import { Panel, PanelFoot, PanelPanes } from './panel.tsx'
import { RequestView } from './request-view.tsx'

type PanelFormProps = {
  title: string
  call: ApiCall
  /** A verb and its object. */
  verb: string
  isBusy: boolean
  /** Why it cannot be sent. */
  offBecause: string | undefined
  /** What is wrong and belongs to none of the fields. */
  problem: string | undefined
  onSubmit: () => void
  /** Left out where the form always stands there. */
  onCancel?: () => void
  children: ReactNode
}

export const PanelForm = (props: PanelFormProps) => (
  <Panel title={props.title}>
    <PanelPanes form={props.children} beside={<RequestView call={props.call} />} />
    <PanelFoot
      actions={
        <>
          {props.onCancel && (
            <Button kind="plain" onClick={props.onCancel}>
              {words.cancel}
            </Button>
          )}
          <Button
            kind="primary"
            isBusy={props.isBusy}
            offBecause={props.offBecause}
            onClick={props.onSubmit}
          >
            {props.verb}
          </Button>
        </>
      }
    >
      <Problem text={props.problem} />
    </PanelFoot>
  </Panel>
)
