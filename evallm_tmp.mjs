// node evallm.mjs [perCell]: held-out questions through llama.cpp, text layout; without memories; absent
import {getLlama} from 'node-llama-cpp';import {execSync} from 'child_process';
const per=+(process.argv[2]??100);const path=process.argv[3]??'/work/main/models/recall-en/recall-en-q8_0.gguf';
const llama=await getLlama({gpu:false,build:'never',skipDownload:true,maxThreads:1});
const model=await llama.loadModel({modelPath:path});
const ctx=await model.createContext({contextSize:1024,sequences:1,threads:1,flashAttention:false});const seq=ctx.getSequence();
const tk=s=>model.tokenize(s,false);
async function gen(ids){await seq.clearHistory();const o=[];for await(const t of seq.evaluate(ids,{temperature:0})){o.push(t);if(o.length>=24)break}return model.detokenize(o)}
const R={};const add=(k,ok)=>{R[k]??=[0,0];R[k][0]+=ok;R[k][1]++};const wrong=[];
for(const ph of ['known','held-out'])for(const n of [5,10]){
 const ds=execSync(`npx tsx scripts/train/dialogues.ts --level 4 --seed 31337${n} --held-out --phrasing ${ph} --layout text --memories ${n} --count ${per}`,{stdio:['ignore','pipe','ignore'],maxBuffer:1e9}).toString().trim().split('\n').map(JSON.parse);
 for(const d of ds)for(const q of d.questions.slice(0,6)){const pre=[model.tokens.bos,...d.header.flatMap(tk),...d.memories.flatMap(tk)];
  const out=await gen([...pre,...q.suffix.flatMap(tk)]);const ok=out===q.answer;const k=q.kind==='absent'?'absent':'answerable';add(`${ph} ${n} ${k}`,ok);add(`${ph} ${n}   kind ${q.kind}`,ok);
  if(!ok&&ph==='known'&&wrong.length<25)wrong.push([n,q.kind,q.suffix.at(-2),q.answer,out]);
  if(ph==='known'&&q.kind!=='absent'&&q.kind!=='history'){const o2=await gen([model.tokens.bos,...tk(d.header[0]),...q.suffix.slice(1).flatMap(tk)]);add(`no memory ${n} exact`,o2===q.answer);add(`no memory ${n} says IDK`,o2===" I don't know.");}}
}
for(const k of Object.keys(R).sort())console.log(k.padEnd(34),R[k][0],'/',R[k][1],(100*R[k][0]/R[k][1]).toFixed(1)+'%');
for(const w of wrong)console.log(JSON.stringify(w));process.exit(0);
