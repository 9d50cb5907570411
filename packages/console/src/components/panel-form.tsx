/** A form in a panel, beside what it will send: for what is made or changed without a page of its own. */
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import type { SendProps } from './form.tsx'
import { Problem } from './layout.tsx'
import { Panel, PanelFoot, PanelPanes } from './panel.tsx'
import { RequestView } from './request-view.tsx'

type PanelFormProps = SendProps & {
  /** Left out where the form always stands there. */
  onCancel?: () => void
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
