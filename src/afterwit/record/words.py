"""How logs name their columns and events, in the languages that reports come in: a start, never a rule."""

import re
import unicodedata

ROLES: dict[str, str] = {
    "delivery": """delivery_id send_id message_id creative_id ad_id variant_id banner_id item_id content_id
        asset_id push_id mail_id email_id notification_id post_id arm_id impression_id creative
        ad variant arm anzeigen_id anzeige id_creatif id_anuncio 创意id 素材id 广告id""",
    "event": """event_id hit_id log_id record_id row_id uuid insert_id""",
    "kind": """kind event event_type event_name type action activity status what ereignis evenement
        evento 事件""",
    "at": """at time timestamp ts event_time event_at occurred_at datetime happened_at
        event_timestamp when uhrzeit zeit zeitpunkt horodatage fecha_hora date day datum fecha
        dia jour tag 时间 日期""",
    "created_at": """created_at created created_time sent_at sent send_time delivered_at launched_at start
        started_at start_time start_date published_at published scheduled_at went_live erstellt
        gesendet envoye enviado 发送时间 创建时间""",
    "observed_at": """observed_at snapshot_at snapshot reported_at report_date as_of exported_at measured_at""",
    "text": """text headline title subject subject_line copy body message content creative_text ad_text
        caption slogan words betreff ueberschrift titre objet asunto titulo 标题 文案""",
    "experiment": """experiment experiment_id test test_id ab_test ab_test_id split_id trial experiment_name
        test_name versuch essai prueba 实验""",
    "placement": """placement placement_id slot position surface page image_id zone widget 位置""",
    "audience": """audience segment cohort target_group zielgruppe 人群""",
    "policy": """policy strategy algorithm model bandit""",
    "propensity": """propensity propensity_score pscore probability prob""",
    "user": """user_id user visitor_id visitor client_id customer_id recipient recipient_id
        subscriber_id device_id kunde utilisateur usuario 用户id""",
    "count": """count n quantity qty total events anzahl nombre 数量""",
    "impression": """impressions impression views view shown displays exposures opens delivered reach imps
        sends einblendungen impressionen aufrufe affichages impresiones vistas 曝光 曝光量 展示""",
    "click": """clicks click taps tap clicked link_clicks clicked_through engaged klicks klick clics
        clic 点击 点击量""",
    "conversion": """conversions conversion purchases purchase orders bought signups converted sales kaeufe
        achats compras 转化""",
    "negative": """unsubscribes unsubscribe complaints complaint spam hides dislikes negatives optouts
        abmeldungen 退订""",
}

EVENTS: dict[str, str] = {
    "impression": """impression impressions view viewed views open opened opens display displayed show shown
        seen exposure exposed render rendered pageview page_view imp einblendung geoeffnet
        affichage ouvert vista abierto 曝光 展示 打开""",
    "click": """click clicked clicks tap tapped select selected link_click email_click engage engaged
        klick geklickt clic clique 点击""",
    "conversion": """conversion convert converted purchase purchased order ordered buy bought checkout signup
        sign_up subscribe subscribed kauf achat compra 转化 购买""",
    "negative": """negative unsubscribe unsubscribed complaint complained spam spam_report spamreport hide
        hidden dislike optout opt_out report abgemeldet 退订 投诉""",
}


def folded(name: str) -> str:
    """Letters and digits alone, without case and accents."""
    spelled = name.translate({0xE4: "ae", 0xF6: "oe", 0xFC: "ue", 0xC4: "ae", 0xD6: "oe", 0xDC: "ue", 0xDF: "ss"})
    plain = "".join(c for c in unicodedata.normalize("NFKD", spelled) if not unicodedata.combining(c))
    return re.sub(r"[\W_]+", "", plain.lower())


def _index(words: dict[str, str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for role, text in words.items():
        for word in text.split():
            found[folded(word)] = (*found.get(folded(word), ()), role)
    return found


_ROLES, _EVENTS = _index(ROLES), _index(EVENTS)


def roles_of(column: str) -> tuple[str, ...]:
    """What a column of this name may be; empty where the name says nothing."""
    return _ROLES.get(folded(column), ())


def kind_of(value: str) -> str | None:
    """The kind of event that a value names."""
    return next(iter(_EVENTS.get(folded(value), ())), None)
