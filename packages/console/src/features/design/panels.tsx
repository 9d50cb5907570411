/** Panels, and a secret that is shown once. */
import { TimeLeft } from '../../components/figures.tsx'
import { Field } from '../../components/field.tsx'
import { PanelForm } from '../../components/panel-form.tsx'
import { Facts, Panel, PanelBody } from '../../components/panel.tsx'
import { RequestBox } from '../../components/request-box.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { Spec, Specimen } from '../../components/specimen.tsx'
import { Status } from '../../components/status.tsx'

const nothing = () => {}
const call = { method: 'POST', path: '/v1/ext/api_keys', body: { name: 'release-bot' } } as const
const command = `read -rs STEWARD_API_KEY && export STEWARD_API_KEY
curl 'https://steward.example.com/v1/agents?limit=1' \\
  -H "x-api-key: $STEWARD_API_KEY"`

export const PanelSets = () => (
  <Spec name="Panel, secret">
    <Specimen caption="a secret shown once, in the command where it is used" size="whole">
      <SecretOnce
        title="release-bot is made"
        secret="stw_key_an_example_that_opens_nothing"
        command={command}
        onDone={nothing}
      >
        <Facts
          facts={[
            ['Rights', 'everything a member may'],
            [
              'First use',
              <Status key="use" tone="queued">
                not yet
              </Status>,
            ],
          ]}
        />
      </SecretOnce>
    </Specimen>
    <Specimen caption="a link shown once" size="half">
      <SecretOnce
        title="The invitation of ada@example.com"
        secret="https://steward.example.com/signin/invitation#an-example"
        onDone={nothing}
      />
    </Specimen>
    <Specimen caption="what ends: when, soon, ended, never" size="half">
      <Facts
        facts={[
          ['In a year', <TimeLeft key="far" at="2099-01-01T00:00:00Z" />],
          ['Ended', <TimeLeft key="over" at="2026-01-01T00:00:00Z" />],
          ['Without end', <TimeLeft key="never" at={null} />],
        ]}
      />
      <RequestBox call={call} />
    </Specimen>
    <Specimen caption="a form beside what it will send, and its foot" size="whole">
      <PanelForm
        title="A new key"
        call={call}
        verb="Make the key"
        isBusy={false}
        offBecause={undefined}
        problem="The key was not made: the server does not answer."
        onSubmit={nothing}
        onCancel={nothing}
      >
        <Field label="What the key is for" value="release-bot" onChange={nothing} />
      </PanelForm>
    </Specimen>
    <Specimen caption="names and values" size="half">
      <Panel title="What it is">
        <PanelBody>
          <Facts facts={[['Your role', 'admin']]} />
        </PanelBody>
      </Panel>
    </Specimen>
  </Spec>
)
