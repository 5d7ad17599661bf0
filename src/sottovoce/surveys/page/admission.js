// Admission: the invitation is spent for a signature of a credential that the server cannot see. The report is sent
// later with credential and signature only, and nothing in it stems from the invitation.

import { finalize, prepare } from "./blind_rsa.js";
import { post } from "./requests.js";

// The state of this device once it is admitted or further, or the server's refusal. The same bytes are sent until the
// server answers, after a reload too, because it signs only one message for an invitation.
export async function admit(survey, memory, address, token, waiting) {
  const state = await memory.change(async (found) => found ?? { state: "prepared", ...(await prepare(survey.key)) });
  if (state.state !== "prepared") return state;
  const answer = await post(address, JSON.stringify({ token, blinded: state.blinded }), waiting);
  if (answer.error) return answer;
  return memory.change(async (found) => {
    if (found.state !== "prepared") return found;
    return { state: "admitted", ...(await finalize(survey.key, found, answer.signature)) };
  });
}
